import { resolve } from 'node:path'
import type { CDPSession, Locator, Page } from '@playwright/test'

export interface Point {
  x: number
  y: number
}

/** A simulated drag of files from a file manager over the window. */
export interface Drag {
  over: (point: Point) => Promise<void>
  drop: (point: Point) => Promise<void>
}

export async function startDrag(page: Page, paths: string[], from: Point): Promise<Drag> {
  const client: CDPSession = await page.context().newCDPSession(page)
  const files = paths.map(path => resolve(path))
  const data = { items: [], files, dragOperationsMask: 1 }
  const at = async (type: 'dragEnter' | 'dragOver' | 'drop', point: Point) => {
    await client.send('Input.dispatchDragEvent', { type, ...point, data })
  }
  await at('dragEnter', from)
  await at('dragOver', from)
  return {
    over: point => at('dragOver', point),
    async drop(point) {
      await at('dragOver', point)
      await at('drop', point)
      await client.detach()
    }
  }
}

export async function centerOf(target: Locator): Promise<Point> {
  const box = await target.boundingBox()
  if (!box) throw new Error('the target is not there')
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 }
}
