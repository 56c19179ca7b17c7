import type { AppError } from '../../contract/kit/errors.ts'
import { companyIdOfPage } from '../../stores/admin/admin-api.ts'
import { navigate } from '../../stores/navigation.ts'
import { pageHref } from '../kit/page-href.ts'
import { showMessage } from '../kit/show-message.ts'
import { useTranslation } from '../kit/use-translation.ts'

export interface DeletionOptions {
  list: 'categories' | 'domains' | 'groups' | 'users'
  remove: () => Promise<void>
  /** Called if somebody else has changed or deleted the item. */
  reload: () => Promise<unknown>
  done?: string
}

/** Returns what `useAction()` or `useForm()` needs to delete the item of a page. */
export function useDeletionActionOptions({ list, remove, reload, done }: DeletionOptions) {
  const { locale } = useTranslation()
  return {
    what: `Deleting an item of ${list} failed`,
    async send() {
      await remove()
      await navigate(pageHref(locale, list, { company: companyIdOfPage() }), { replace: true })
      if (done) showMessage(done)
    },
    handle({ code }: AppError) {
      // so that the page shows what has become of the item
      if (code === 'changed_meanwhile' || code === 'not_found') reload().catch(() => {})
      return false
    }
  }
}
