import { readdir, readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { getMimeType } from 'hono/utils/mime'
import * as z from 'zod/mini'
import { guardNames, isGuardName } from '../../core/pages/page-guards.ts'

export type Locale = 'en' | 'fr'

/** Renders one page with Astro. Calls `next` if no route matches the request. */
export type Render = (
  request: IncomingMessage,
  response: ServerResponse,
  next: () => void,
  locals: object
) => Promise<void>

/** What `astro build` has created, read once at the start. */
export interface Build {
  id: string
  built: Date
  /** Routes of the pages, such as `/[locale]/verify`. */
  routes: string[]
  /** The translations of every namespace, by language. */
  messages: Record<Locale, Words>
  /** Static files by path: `/kdf-a1.json`, `/_astro/client.FVv06Hs5.js`. */
  files: Map<string, BuiltFile>
  render: Render
}

export interface BuiltFile {
  body: Buffer<ArrayBuffer>
  type: string
}

interface Words {
  [key: string]: string | Words
}

const BuildRecord = z.object({
  id: z.string(),
  built: z.iso.datetime(),
  // the name of the guard of each route
  pages: z.record(z.string(), z.string()),
  messages: z.object({ en: z.record(z.string(), z.any()), fr: z.record(z.string(), z.any()) })
})

/** Reads the folder `dist` and loads the page renderer. Throws if a page names an unknown guard. */
export async function readBuild(folder: string): Promise<Build> {
  const read = BuildRecord.safeParse(JSON.parse(await readRecord(folder)))
  if (!read.success) {
    throw new Error(`The pages in ${folder} were built by another version: run npm run build`)
  }
  const { pages, ...record } = read.data
  refuseUnknownGuards(pages)
  const entry = pathToFileURL(resolve(folder, 'server', 'entry.mjs')).href
  const { handler } = (await import(entry)) as { handler: Render } // as: Astro's adapter wrote it
  const built = new Date(record.built)
  const routes = Object.keys(pages)
  const files = await readFiles(join(folder, 'client'))
  return { ...record, built, routes, files, render: handler }
}

/** Throws if a page names an unknown guard, because everybody could open this page. */
function refuseUnknownGuards(pages: Record<string, string>): void {
  const faults = Object.entries(pages)
    .filter(([, guard]) => !isGuardName(guard))
    .map(([route, guard]) => `${route} names "${guard}"`)
  if (faults.length === 0) return
  throw new Error(`Unknown guard: ${faults.join(', ')}. There are: ${guardNames.join(', ')}.`)
}

async function readRecord(folder: string): Promise<string> {
  try {
    return await readFile(join(folder, 'build.json'), 'utf8')
  } catch (cause) {
    throw new Error(`There are no built pages in ${folder}: run npm run build`, { cause })
  }
}

async function readFiles(folder: string): Promise<Map<string, BuiltFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
  const files = await Promise.all(
    paths.map(async (path): Promise<[string, BuiltFile]> => {
      const body = await readFile(path)
      const type = getMimeType(path) ?? 'application/octet-stream'
      return [path.slice(folder.length).replaceAll('\\', '/'), { body, type }]
    })
  )
  return new Map(files)
}
