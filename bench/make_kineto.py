"""Writes a trace as torch.profiler does, of any size: python3 bench/make_kineto.py 2GiB FILE.

Steps of a made-up training: Python functions 20 deep, operators, and in every fortieth event memory. How long reading takes, and how
much memory, docs/formats/kineto.md says.
"""

import sys

UNITS = {"MiB": 1 << 20, "GiB": 1 << 30}
DEPTH = 20


def step(number, base):
    """The events of one step, as text: ends at the time that is returned."""
    lines = [f'{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{number}","pid":1,"tid":1,"ts":{base}.000,"dur":99999.000,'
             '"args":{"External id":1,"Ev Idx":0}}']
    for depth in range(DEPTH):
        lines.append(f'{{"ph":"X","cat":"python_function","name":"model/layer_{depth}.py({depth}): forward","pid":1,"tid":1,'
                     f'"ts":{base + depth}.125,"dur":{99000 - 2 * depth}.250,"args":{{"Python id":{depth},"Python parent id":{depth},'
                     f'"Python module id":{depth},"Ev Idx":{depth}}}}}')
    for i in range(2000):
        at = base + 100 + 20 * i
        lines.append(f'{{"ph":"X","cat":"cpu_op","name":"aten::op_{i % 300}","pid":1,"tid":1,"ts":{at}.010,"dur":12.500,"args":'
                     f'{{"External id":{i},"Record function id":0,"Concrete Inputs":["","","[1, 2, 3]"],"Input type":["float","float"],'
                     f'"Input Strides":[[1024,1],[1]],"Input Dims":[[64,1024],[1024]],"Ev Idx":{i}}}}}')
        if i % 40 == 0:
            block = i // 40
            for sign, after in (("", 3), ("-", 9)):
                lines.append(f'{{"ph":"i","cat":"cpu_instant_event","s":"t","name":"[memory]","pid":1,"tid":1,"ts":{at + after}.500,"args":'
                             f'{{"Total Reserved":1073741824,"Total Allocated":{536870912 + (0 if sign else 1048576)},'
                             f'"Bytes":{sign}1048576,"Device Id":0,"Device Type":1,"Addr":{140000000000000 + block * 2097152},'
                             f'"Ev Idx":{i}}}}}')
    return ",\n".join(lines), base + 100000


def main():
    size, path = sys.argv[1:]
    wanted = int(float(size[:-3]) * UNITS[size[-3:]])
    with open(path, "w", encoding="utf-8") as file:
        file.write('{"schemaVersion":1,"baseTimeNanoseconds":1700000000000000000,"traceEvents":[\n')
        number, base = 0, 1000000
        while file.tell() < wanted:
            text, base = step(number, base)
            file.write((",\n" if number else "") + text)
            number += 1
        file.write("\n]}\n")


main()
