"""Fetch all messages of a mailbox with poplib, each into a file named by its number.

pop.py HOST PORT plain|starttls|tls TRUST USER SECRET FOLDER keep|delete

What poplib cannot read (a line above its limit) is left out; the connection is of no use then, and a new one is made.
"""

import pathlib
import poplib
import ssl
import sys

host, port, transport, trust, user, secret, folder, then = sys.argv[1:]


def connect():
    context = ssl.create_default_context(cafile=trust)
    if transport == "tls":
        pop = poplib.POP3_SSL(host, int(port), timeout=30, context=context)
    else:
        pop = poplib.POP3(host, int(port), timeout=30)
    if transport == "starttls":
        pop.stls(context)
    pop.user(user)
    pop.pass_(secret)
    return pop


def numbers(lines):
    return [int(line.split()[0]) for line in lines]


pop = connect()
count, octets = pop.stat()
listed = pop.list()[1]
assert numbers(listed) == numbers(pop.uidl()[1]) == list(range(1, count + 1)), "LIST and UIDL differ"
assert sum(int(line.split()[1]) for line in listed) == octets, "STAT and LIST differ"
for number in range(1, count + 1):
    try:
        lines = pop.retr(number)[1]
    except poplib.error_proto as error:
        if "line too long" not in str(error):
            raise
        pop.close()
        pop = connect()
        continue
    pathlib.Path(folder, str(number)).write_bytes(b"".join(line + b"\r\n" for line in lines))
if then == "delete":
    for number in range(1, count + 1):
        pop.dele(number)
pop.quit()
