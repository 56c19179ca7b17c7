// Resolves *.localhost to this machine, because not every resolver does
import dns from 'node:dns'

const { lookup } = dns
Object.assign(dns, {
  lookup: (host: string, ...more: unknown[]) =>
    Reflect.apply(lookup, dns, [host.endsWith('.localhost') ? 'localhost' : host, ...more])
})
