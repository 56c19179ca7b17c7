import { type CompressedBody, compressBody } from './compression.ts'

export interface Page {
  status: number
  headers: Record<string, string>
  body: CompressedBody
}

/** A page as it is to be answered. */
export interface RenderedPage {
  status: number
  headers: Record<string, string>
  body: string
}

interface Entry {
  version: string
  page: Page
}

const brotliQuality = 5

/**
 * Rendered pages in memory, bounded by bytes; the least recently used leave first. An entry holds for
 * one version of the company's configuration, so a change needs no purge.
 */
export class PageCache {
  readonly #maxBytes: number
  readonly #entries = new Map<string, Entry>()
  readonly #renders = new Map<string, Promise<Page>>()
  #bytes = 0
  #hits = 0
  #rendered = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  stats(): { pages: number; bytes: number; hits: number; rendered: number } {
    return {
      pages: this.#entries.size,
      bytes: this.#bytes,
      hits: this.#hits,
      rendered: this.#rendered
    }
  }

  /** The page of `key`; readers that miss it together wait for one render. Failures are not kept. */
  async get(key: string, version: string, render: () => Promise<RenderedPage>): Promise<Page> {
    const entry = this.#entries.get(key)
    if (entry?.version === version) {
      this.#hits++
      this.#entries.delete(key)
      this.#entries.set(key, entry)
      return entry.page
    }
    const ticket = `${version}\n${key}`
    let running = this.#renders.get(ticket)
    if (!running) {
      running = this.#render(key, version, render).finally(() => this.#renders.delete(ticket))
      this.#renders.set(ticket, running)
    }
    return running
  }

  async #render(key: string, version: string, render: () => Promise<RenderedPage>): Promise<Page> {
    const rendered = await render()
    this.#rendered++
    const { headers } = rendered
    const type = headers['content-type'] ?? 'text/html'
    const body = await compressBody(Buffer.from(rendered.body), type, brotliQuality)
    const page = { status: rendered.status, headers, body }
    this.#drop(key)
    this.#entries.set(key, { version, page })
    this.#bytes += body.size
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes) break
      this.#drop(oldest)
    }
    return page
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.page.body.size ?? 0
    this.#entries.delete(key)
  }
}
