# Resolves *.localhost to this machine, because not every resolver does
import socket

resolve = socket.getaddrinfo
socket.getaddrinfo = lambda host, *more, **named: resolve(
    "localhost" if str(host).endswith(".localhost") else host, *more, **named
)

