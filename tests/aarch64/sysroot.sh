#!/bin/sh
# Makes a folder with Debian's Python for aarch64 and the packages that the tests need, in the
# versions of an environment of this machine. Usage: sysroot.sh FOLDER PYTHON
set -eu
folder="$1" python="$2" here="$(cd "$(dirname "$0")" && pwd)"

if [ "$(. /etc/os-release && echo "$ID")" != debian ]; then
  echo "make aarch64 needs Debian, whose packages for aarch64 it unpacks." >&2
  exit 1
fi
if ! command -v qemu-aarch64 || ! command -v aarch64-linux-gnu-g++; then
  if [ "$(id -u)" != 0 ]; then
    echo "make aarch64 needs qemu-aarch64 and aarch64-linux-gnu-g++:" \
      "apt-get install qemu-user g++-aarch64-linux-gnu" >&2
    exit 1
  fi
  apt-get -qq update
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
    qemu-user g++-aarch64-linux-gnu
fi >/dev/null

rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial"
folder="$(cd "$folder" && pwd)"
root="$folder/root"

# apt with a state of its own: the machine's architectures and packages stay as they are.
touch "$folder/apt/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
  "http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" \
  >"$folder/apt/sources.list"
cat >"$folder/apt/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
Debug::NoLocking "true";
Dir::Cache "$folder/apt";
Dir::Etc::sourcelist "$folder/apt/sources.list";
Dir::Etc::sourceparts "-";
Dir::State "$folder/apt";
Dir::State::status "$folder/apt/status";
END
export APT_CONFIG="$folder/apt/apt.conf"
apt-get -qq update
apt-get -qq install -y --download-only libpython3-dev libstdc++6 python3 >/dev/null
for package in "$folder"/apt/archives/*.deb; do dpkg-deb -x "$package" "$root"; done

cp "$here/python.sh" "$root/usr/bin/python"
version="$(readlink "$root/usr/bin/python3")"
version="${version#python}"
# The import of thousands of files without bytecode would take minutes.
"$root/usr/bin/python" -m compileall -qq "$root/usr/lib/python$version" || true

"$python" -m pip freeze | grep == >"$folder/constraints.txt"
"$python" -m pip install --quiet --disable-pip-version-check -c "$folder/constraints.txt" \
  --only-binary=:all: --platform manylinux2014_aarch64 --platform manylinux_2_28_aarch64 \
  --python-version "$version" --target "$root/usr/local/lib/python$version/dist-packages" \
  hypothesis numpy pytest pytest-timeout pytest-xdist safetensors scikit-build-core scikit-learn scipy
