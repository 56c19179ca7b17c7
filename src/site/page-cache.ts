import { LRUCache } from 'lru-cache'
import { type Bytes, toUtf8 } from '../core/bytes.ts'
import type { EncodedBody } from './answers.ts'

export interface CachedPage {
  status: number
  headers: Record<string, string>
  body: EncodedBody
}

export interface RenderedPage {
  status: number
  headers: Record<string, string>
  body: string
}

interface Entry {
  version: string
  page: CachedPage
}

const quality = 5

/** Compresses, where the platform does not; the quality is from 1 to 11, as of brotli. */
export type Encode = (body: Bytes, type: string, quality: number) => Promise<EncodedBody>

/** A page is valid for one version of the company's configuration. */
export class PageCache {
  readonly #entries: LRUCache<string, Entry>
  readonly #renders = new Map<string, Promise<CachedPage>>()
  readonly #encode: Encode
  #rendered = 0

  constructor(maxBytes: number, encode: Encode) {
    this.#encode = encode
    const sizeCalculation = ({ page }: Entry) => page.body.size
    this.#entries = new LRUCache({ maxSize: maxBytes, sizeCalculation })
  }

  stats(): { pages: number; bytes: number; rendered: number } {
    return {
      pages: this.#entries.size,
      bytes: this.#entries.calculatedSize,
      rendered: this.#rendered
    }
  }

  /**
   * Callers that need the same page at the same time share one render. A failed render is not kept.
   */
  async get(
    key: string,
    version: string,
    render: () => Promise<RenderedPage>
  ): Promise<CachedPage> {
    const entry = this.#entries.get(key)
    if (entry?.version === version) return entry.page
    const shared = `${version}\n${key}`
    let running = this.#renders.get(shared)
    if (!running) {
      running = this.#render(key, version, render).finally(() => this.#renders.delete(shared))
      this.#renders.set(shared, running)
    }
    return running
  }

  async #render(
    key: string,
    version: string,
    render: () => Promise<RenderedPage>
  ): Promise<CachedPage> {
    const { status, headers, body } = await render()
    this.#rendered++
    const page = { status, headers, body: await this.#encode(toUtf8(body), 'text/html', quality) }
    this.#entries.set(key, { version, page })
    return page
  }
}
