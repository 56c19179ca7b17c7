# *.localhost is this machine, which not every resolver knows
import socket

resolve = socket.getaddrinfo
socket.getaddrinfo = lambda host, *more, **named: resolve(
    "localhost" if str(host).endswith(".localhost") else host, *more, **named
)

