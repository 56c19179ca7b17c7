import {
  isStillPicture,
  type PixelSize,
  shrinkToFit,
  vanishesOnWhite
} from '../core/files/pictures.ts'
import type { WorkerReply } from './pool.ts'

const box = { w: 600, h: 600 }
const quality = 0.7

/** `from` and `to` are the sizes in pixels before and after the reduction. */
export interface ReducedPicture {
  blob: Blob
  from: PixelSize
  to: PixelSize
}

addEventListener('message', (event: MessageEvent<Blob>) => {
  void run(event.data).then(answer => postMessage(answer))
})

// undefined for animations, photos with a video, drawings that would vanish on white and pictures
// that the browser cannot decode
async function run(file: Blob): Promise<WorkerReply<ReducedPicture | undefined>> {
  try {
    return { kind: 'done', result: await reduce(file) }
  } catch {
    return { kind: 'done', result: undefined }
  }
}

async function reduce(file: Blob): Promise<ReducedPicture | undefined> {
  if (!isStillPicture(new Uint8Array(await file.arrayBuffer()))) return undefined
  const picture = await createImageBitmap(file, { imageOrientation: 'from-image' })
  const from = { w: picture.width, h: picture.height }
  const to = shrinkToFit(from, box)
  const canvas = new OffscreenCanvas(to.w, to.h)
  const context = canvas.getContext('2d')
  if (!context) return undefined
  context.imageSmoothingQuality = 'high'
  context.drawImage(picture, 0, 0, to.w, to.h)
  picture.close()
  if (vanishesOnWhite(context.getImageData(0, 0, to.w, to.h).data)) return undefined
  context.globalCompositeOperation = 'destination-over'
  context.fillStyle = 'white' // JPEG knows no transparency
  context.fillRect(0, 0, to.w, to.h)
  return { blob: await canvas.convertToBlob({ type: 'image/jpeg', quality }), from, to }
}
