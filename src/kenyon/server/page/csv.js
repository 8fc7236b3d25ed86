// Tables as text: RFC 4180, with commas, semicolons or tabs, and line ends of any system.

export function parseTable(text) {
  const clean = text.replace(/^\uFEFF/, "");
  const separator = findSeparator(clean);
  const rows = [];
  let row = [];
  let cell = "";
  let isQuoted = false;
  let wasQuoted = false;
  const endCell = () => {
    row.push(cell);
    cell = "";
    wasQuoted = false;
  };
  const endRow = () => {
    endCell();
    if (row.length > 1 || row[0] !== "") rows.push(row);
    row = [];
  };
  for (let i = 0; i < clean.length; i += 1) {
    const one = clean[i];
    if (isQuoted) {
      if (one !== '"') cell += one;
      else if (clean[i + 1] === '"') {
        cell += '"';
        i += 1;
      } else isQuoted = false;
    } else if (one === '"' && cell === "" && !wasQuoted) {
      isQuoted = wasQuoted = true;
    } else if (one === separator) endCell();
    else if (one === "\n" || one === "\r") {
      if (one === "\r" && clean[i + 1] === "\n") i += 1;
      endRow();
    } else cell += one;
  }
  if (isQuoted) throw new Error("A quotation mark is opened in this file, and never closed.");
  if (cell !== "" || row.length) endRow();
  return rows;
}

function findSeparator(text) {
  const [head] = text.split(/[\r\n]/, 1);
  const outside = head.replace(/"[^"]*"/g, "");
  const counts = [",", ";", "\t"].map((one) => [outside.split(one).length, one]);
  return counts.sort((a, b) => b[0] - a[0])[0][1];
}
