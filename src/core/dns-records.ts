export interface DnsRecord {
  purpose: 'proof' | 'pages' | 'api' | 'every'
  type: 'TXT' | 'CNAME' | 'A' | 'AAAA'
  /** The name relative to the DNS zone, for which DNS providers ask: `docs`, `@`. */
  relative: string | undefined
  name: string
  /** Undefined for the type `A` if the server's IP address is not known. */
  value: string | undefined
}

interface DnsRecordInput {
  host: string
  proof: { name: string; value: string; zone: string } | null
  /** A host that already leads to the server, to which new records can point. */
  server: string | undefined
  addresses?: readonly string[]
}

/** Returns the record that proves who controls the domain, then those that lead to the server. */
export function dnsRecords({ host, proof, server, addresses = [] }: DnsRecordInput): DnsRecord[] {
  const zone = proof?.zone
  const relativeOf = (name: string) => {
    if (name === zone) return '@'
    return zone !== undefined && name.endsWith(`.${zone}`)
      ? name.slice(0, -zone.length - 1)
      : undefined
  }
  const leading = (purpose: DnsRecord['purpose'], name: string): DnsRecord[] => {
    const record = { purpose, relative: relativeOf(name), name }
    // the top of a zone cannot be an alias of another name
    if (server !== undefined && name !== zone && name !== server) {
      return [{ ...record, type: 'CNAME', value: server }]
    }
    if (addresses.length === 0) return [{ ...record, type: 'A', value: undefined }]
    return addresses.map(value => ({ ...record, type: value.includes(':') ? 'AAAA' : 'A', value }))
  }
  return [
    ...(proof
      ? [
          {
            purpose: 'proof' as const,
            type: 'TXT' as const,
            relative: relativeOf(proof.name),
            name: proof.name,
            value: proof.value
          }
        ]
      : []),
    ...(host.startsWith('*.')
      ? leading('every', host)
      : [...leading('pages', host), ...leading('api', `api.${host}`)])
  ]
}
