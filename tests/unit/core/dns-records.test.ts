import { expect, test } from 'vitest'
import { dnsRecords } from '../../../src/core/dns-records.ts'

const proof = { name: '_domain-check.docs.acme.fr', value: 'token', zone: 'acme.fr' }

test('proves a host and leads its pages and its API to the server', () => {
  expect(dnsRecords({ host: 'docs.acme.fr', proof, server: 'vidimus.example' })).toEqual([
    {
      purpose: 'proof',
      type: 'TXT',
      relative: '_domain-check.docs',
      name: '_domain-check.docs.acme.fr',
      value: 'token'
    },
    {
      purpose: 'pages',
      type: 'CNAME',
      relative: 'docs',
      name: 'docs.acme.fr',
      value: 'vidimus.example'
    },
    {
      purpose: 'api',
      type: 'CNAME',
      relative: 'api.docs',
      name: 'api.docs.acme.fr',
      value: 'vidimus.example'
    }
  ])
})

test('gives the top of a zone an address, because it cannot be an alias', () => {
  const [, pages, api] = dnsRecords({
    host: 'acme.fr',
    proof: { ...proof, name: '_domain-check.acme.fr' },
    server: 'vidimus.example'
  })
  expect(pages).toMatchObject({ type: 'A', relative: '@', value: undefined })
  expect(api).toMatchObject({ type: 'CNAME', relative: 'api', value: 'vidimus.example' })
})

test('has one record for all names of a wildcard', () => {
  const records = dnsRecords({
    host: '*.acme.fr',
    proof: { ...proof, name: '_domain-check.acme.fr' },
    server: 'vidimus.example'
  })
  expect(records.map(({ purpose, relative }) => [purpose, relative])).toEqual([
    ['proof', '_domain-check'],
    ['every', '*']
  ])
})

test('knows no short names where the zone is unknown', () => {
  const records = dnsRecords({ host: 'docs.acme.fr', proof: null, server: undefined })
  expect(records.map(({ type, relative, name }) => [type, relative, name])).toEqual([
    ['A', undefined, 'docs.acme.fr'],
    ['A', undefined, 'api.docs.acme.fr']
  ])
})

test('gives each address of the server a record, where there is no name to point to', () => {
  const records = dnsRecords({
    host: 'acme.fr',
    proof: { ...proof, name: '_domain-check.acme.fr' },
    server: undefined,
    addresses: ['192.0.2.7', '2001:db8::7']
  })
  expect(records.slice(1).map(({ type, name, value }) => [type, name, value])).toEqual([
    ['A', 'acme.fr', '192.0.2.7'],
    ['AAAA', 'acme.fr', '2001:db8::7'],
    ['A', 'api.acme.fr', '192.0.2.7'],
    ['AAAA', 'api.acme.fr', '2001:db8::7']
  ])
})
