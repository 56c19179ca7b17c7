/** A DNS record that a domain needs. */
export interface DnsRecord {
  purpose: 'proof' | 'pages' | 'api' | 'every'
  type: 'TXT' | 'CNAME' | 'A' | 'AAAA'
  /**
   * Name of the record relative to the DNS zone: `docs`, or `@` for the zone itself. DNS providers
   * ask for this form. Undefined if the zone is not known.
   */
  relative: string | undefined
  /** Full name of the record: `docs.acme.fr`. */
  name: string
  /** Value of the record. Undefined for the type `A` if the server's IP address is not known. */
  value: string | undefined
}

interface DnsRecordInput {
  /** The host of the domain: `docs.acme.fr`, or `*.acme.fr`. */
  host: string
  /**
   * The record that proves who controls the host, and the DNS zone to which all records belong
   * (`zone`). `null` if no proof is needed.
   */
  proof: { name: string; value: string; zone: string } | null
  /**
   * The host to which new records can point, because it already leads to the server. Undefined if
   * no such host is known.
   */
  server: string | undefined
  /** The IP addresses of the server, if they are known. */
  addresses?: readonly string[]
}

/**
 * Returns the DNS records that a domain needs. First comes the record that proves who controls the
 * domain, then the records that lead to the server: one for the host of the pages and one for the
 * host of the API (`api.…`). A wildcard domain has one record for both.
 */
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
