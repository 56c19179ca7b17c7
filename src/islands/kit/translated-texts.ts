/**
 * Lets React work on a page whose texts a browser's translator has replaced. A translator puts a
 * `<font>` in the place of each text, or moves the text into one. React would then fail to remove a
 * text or to insert something before it, and would change texts that nobody sees
 * (facebook/react#11538). Here, the `<font>` is removed, or stands for the text, or gives way to the
 * text when React changes it; the translator then translates it again. On a page that no translator
 * has changed, what React cannot remove or insert stays an error.
 */
export function supportTranslators(): void {
  const observer = new MutationObserver(recordStandIns)
  observer.observe(document, { childList: true, subtree: true })
  const { insertBefore, removeChild } = Node.prototype
  const standInOf = (node: Node, parent: Node | undefined) => {
    recordStandIns(observer.takeRecords())
    const font = outermostFontOf(node) ?? standIns.get(node)
    return font && (!parent || font.parentNode === parent) ? font : undefined
  }

  Node.prototype.insertBefore = function <Child extends Node>(child: Child, before: Node | null) {
    const isOwn = !before || before.parentNode === this
    const place = isOwn ? before : standInOf(before, this)
    insertBefore.call(this, child, place ?? (isOwn || isTranslated(before) ? null : before))
    return child
  }
  Node.prototype.removeChild = function <Child extends Node>(child: Child) {
    const own = child.parentNode === this ? child : standInOf(child, this)
    if (own || !isTranslated(child)) removeChild.call(this, own ?? child)
    return child
  }
  const value = Object.getOwnPropertyDescriptor(Node.prototype, 'nodeValue')
  Object.defineProperty(Text.prototype, 'nodeValue', {
    ...value,
    set(this: Text, text: string | null) {
      if (text !== this.data) standInOf(this, undefined)?.replaceWith(this)
      this.data = text ?? ''
    }
  })
}

const standIns = new WeakMap<Node, Element>()

function recordStandIns(records: readonly MutationRecord[]): void {
  for (const [
    at,
    { target, removedNodes, addedNodes, previousSibling, nextSibling }
  ] of records.entries()) {
    for (const text of removedNodes) {
      if (text.nodeType !== Node.TEXT_NODE) continue
      const near = [...addedNodes, previousSibling, nextSibling]
      const next = records[at + 1]
      // removed first, and replaced afterwards
      if (next?.target === target && next.nextSibling === nextSibling)
        near.unshift(...next.addedNodes)
      const font = near.find(isFont)
      if (font) standIns.set(text, font)
    }
  }
}

function isTranslated(node: Node): boolean {
  return standIns.has(node) || document.querySelector('font') !== null
}

function outermostFontOf(node: Node): Element | undefined {
  let font: Element | undefined
  for (let at = node.parentNode; isFont(at); at = at.parentNode) font = at
  return font
}

function isFont(node: Node | null | undefined): node is Element {
  return node?.nodeName === 'FONT'
}
