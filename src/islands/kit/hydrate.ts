import {
  type ComponentType,
  createElement,
  type ReactNode,
  startTransition,
  useEffect
} from 'react'
import { hydrateRoot } from 'react-dom/client'
import { supportTranslators } from './translated-texts.ts'

supportTranslators()

interface RootProps {
  onHydrated: () => void
  children?: ReactNode
}

// replaces that of Astro's integration of React
export default (island: HTMLElement) =>
  async (Screen: ComponentType, props: object): Promise<void> => {
    if ('hydrating' in island.dataset) return
    // the shell repeats earlier clicks
    island.dataset['hydrating'] = ''
    // Astro removes the attribute `ssr` afterwards
    await new Promise<void>(resolve => {
      const screen = createElement(Root, { onHydrated: resolve }, createElement(Screen, props))
      startTransition(() => {
        const root = hydrateRoot(island, screen, {
          identifierPrefix: island.getAttribute('prefix') ?? '',
          onRecoverableError(error) {
            // React reports an island that is removed before it has hydrated, and then draws
            // nothing
            if (island.isConnected) reportError(error)
          }
        })
        island.addEventListener('astro:unmount', () => root.unmount(), { once: true })
      })
    })
  }

function Root({ onHydrated, children }: RootProps): ReactNode {
  useEffect(onHydrated, [onHydrated])
  return children
}
