import { AppError } from '../../contract/kit/errors.ts'
import { uploadChunkBytes } from '../../contract/kit/limits.ts'
import {
  findReadError,
  sendInSession,
  type UploadRequest,
  type UploadResponse,
  type UploadSession
} from './http-upload.ts'

export interface TusSendOptions {
  onProgress?: (bytesSent: number) => void
  signal?: AbortSignal
}

export type TusClient = ReturnType<typeof createTusClient>

export function createTusClient(session: UploadSession) {
  function call(method: string, uri: string, more: Partial<UploadRequest> = {}) {
    const headers = { 'Tus-Resumable': '1.0.0', ...more.headers }
    return sendInSession(session, { ...more, method, uri, headers })
  }

  async function sendPieces(url: string, bytes: Blob, options: TusSendOptions): Promise<void> {
    const { onProgress, signal } = options
    let offset = offsetOf(await call('HEAD', url, { signal }))
    while (offset < bytes.size) {
      const from = offset
      const answer = await call('PATCH', url, {
        headers: {
          'Content-Type': 'application/offset+octet-stream',
          'Upload-Offset': `${from}`
        },
        body: bytes.slice(from, from + uploadChunkBytes),
        onProgress: sent => onProgress?.(from + sent),
        signal
      })
      offset = offsetOf(answer)
      if (offset <= from) throw new AppError('unexpected_answer', 'A piece did not arrive')
    }
    onProgress?.(bytes.size)
  }

  return {
    /**
     * Makes one attempt. Once it succeeds, the server has all bytes and has promised to record
     * them.
     */
    async send(url: string, bytes: Blob, options: TusSendOptions = {}): Promise<void> {
      if (options.signal?.aborted) throw new Error('terminated')
      try {
        await sendPieces(url, bytes, options)
      } catch (error) {
        if (options.signal?.aborted) throw error
        throw (await findReadError(error, bytes)) ?? error
      }
    },

    async getOffset(url: string): Promise<number> {
      return offsetOf(await call('HEAD', url))
    },

    /** Also releases the reservation of the deposit. */
    async cancel(url: string): Promise<void> {
      await call('DELETE', url)
    }
  }
}

function offsetOf({ header }: UploadResponse): number {
  const offset = Number(header('Upload-Offset') ?? Number.NaN)
  if (!Number.isNaN(offset)) return offset
  throw new AppError('unexpected_answer', 'The answer does not say how many bytes have arrived')
}
