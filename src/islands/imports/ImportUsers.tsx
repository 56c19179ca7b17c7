import { lazyComponent } from '../kit/LazyComponent.tsx'
import { withTranslation } from '../kit/use-translation.ts'

// most visits of the administration import nothing
const UserImportWizard = lazyComponent(
  async () => (await import('./UserImportWizard.tsx')).UserImportWizard
)

/** Imports people from a CSV file or from pasted cells. */
export const ImportUsers = withTranslation(function ImportUsers() {
  return <UserImportWizard />
})
