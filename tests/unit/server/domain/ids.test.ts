import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { newId, newRandomId } from '../../../../src/server/domain/ids.ts'

const random = (length: number) => new Uint8Array(randomBytes(length))
const at = (time: string) => ({ clock: () => new Date(time), random })

test('writes the time, version and variant of a UUIDv7', () => {
  const ones = (length: number) => new Uint8Array(length).fill(0xff)
  const zeros = (length: number) => new Uint8Array(length)
  const clock = () => new Date(0x019a9ef2c345)
  expect(newId({ clock, random: ones })).toBe('019a9ef2-c345-7fff-bfff-ffffffffffff')
  expect(newId({ clock, random: zeros })).toBe('019a9ef2-c345-7000-8000-000000000000')
})

test('sorts ids by the time they were made', () => {
  const times = ['1970-01-01T00:00:00Z', '2026-11-20T10:00:00.000Z', '2026-11-20T10:00:00.001Z']
  const ids = times.map(time => newId(at(time)))
  expect(ids.toSorted()).toEqual(ids)
})

test('makes no id twice within a millisecond', () => {
  const ids = Array.from({ length: 1000 }, () => newId(at('2026-11-20T10:00:00Z')))
  expect(new Set(ids).size).toBe(1000)
})

test('names records in 22 characters that tell nothing', () => {
  expect(newRandomId({ random })).toMatch(/^[\w-]{21}[AQgw]$/)
  expect(newRandomId({ random: length => new Uint8Array(length) })).toBe('A'.repeat(22))
})
