import { expect, test, vi } from 'vitest'
import { createFileHasher } from '../../../src/workers/file-hasher.ts'
import type { FileHashResult } from '../../../src/workers/hash.ts'

/** Creates a hasher whose pool answers when the test says so. The digest of a file is its text. */
function makeHasher() {
  const groups: { names: Promise<string[]>; answer: (hashed: FileHashResult[]) => void }[] = []
  const hash = createFileHasher(files => {
    const { promise, resolve } = Promise.withResolvers<FileHashResult[]>()
    groups.push({ names: Promise.all(files.map(file => file.text())), answer: resolve })
    return promise
  }, 2)
  const answerAll = async () => {
    for (const { names, answer } of groups) answer((await names).map(digest => ({ digest })))
  }
  return { hash, groups, answerAll }
}

const file = (name: string) => new Blob([name])

test('sends small files that wait together, at most sixteen', async () => {
  const { hash, groups, answerAll } = makeHasher()
  const names = Array.from({ length: 40 }, (_, at) => `${at}`)
  const digests = names.map(name => hash(file(name)))
  expect(await Promise.all(groups.map(group => group.names))).toEqual([['0'], ['1']])
  await answerAll()
  await vi.waitFor(() => expect(groups).toHaveLength(4))
  expect((await groups[2]?.names)?.length).toBe(16)
  await answerAll()
  await vi.waitFor(() => expect(groups).toHaveLength(5))
  await answerAll()
  expect(await Promise.all(digests)).toEqual(names)
})

test('rejects the file alone that cannot be read', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {})
  const { hash, groups } = makeHasher()
  const first = hash(file('a'))
  const second = hash(file('b'))
  const [third, fourth] = [hash(file('c')), hash(file('d'))]
  for (const { answer } of groups.splice(0)) answer([{ digest: 'x' }])
  await Promise.all([first, second])
  groups[0]?.answer([{ detail: 'NotReadableError' }, { digest: 'd' }])
  await expect(third).rejects.toMatchObject({ code: 'file_unreadable' })
  expect(await fourth).toBe('d')
})

test('takes a file back before and during its group, and finishes the others', async () => {
  const { hash, groups, answerAll } = makeHasher()
  const stop = new AbortController()
  const busy = [hash(file('a')), hash(file('b'))]
  const waiting = hash(file('c'), { signal: stop.signal })
  const other = hash(file('d'))
  stop.abort()
  await expect(waiting).rejects.toThrow('terminated')
  await answerAll()
  await vi.waitFor(() => expect(groups).toHaveLength(3))
  expect(await groups[2]?.names).toEqual(['d'])
  await answerAll()
  expect(await Promise.all([...busy, other])).toEqual(['a', 'b', 'd'])
})

test('asks for a larger file alone, with its progress', async () => {
  const asked: [number, unknown][] = []
  const hash = createFileHasher(async (files, options) => {
    asked.push([files.length, options])
    return [{ digest: 'x' }]
  }, 2)
  const onProgress = () => {}
  expect(await hash(new Blob([Buffer.alloc(1024 * 1024 + 1)]), { onProgress })).toBe('x')
  expect(asked).toEqual([[1, { onProgress }]])
})
