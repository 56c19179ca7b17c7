// *.localhost is this machine, which not every resolver knows
import dns from 'node:dns'

const { lookup } = dns
Object.assign(dns, {
  lookup: (host: string, ...more: unknown[]) =>
    Reflect.apply(lookup, dns, [host.endsWith('.localhost') ? 'localhost' : host, ...more])
})
