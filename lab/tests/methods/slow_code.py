"""The dense code by sums and divisions of Python's integers."""


def dense_code(x, coder):
    """Return the level of each cell, for one sample."""
    channels, x = coder.connections_.tolist(), [float(number) for number in x]
    largest = max(abs(number) for number in x) or 1.0
    q = [round(number / largest * (32767 // len(channels[0]))) for number in x]
    if len(x) < 32:
        q = [max(number, 0) for number in q] + [max(-number, 0) for number in q]
    sums = [sum(q[channel] for channel in cell) for cell in channels]
    spread = max(sums) - min(sums) or 1
    return [(510 * (one - min(sums)) + spread) // (2 * spread) for one in sums]
