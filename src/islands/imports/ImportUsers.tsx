import { lazyComponent } from '../kit/LazyComponent.tsx'
import { withTranslation } from '../kit/use-translation.ts'

// most visits of the administration import nothing
const UserImportWizard = lazyComponent(
  async () => (await import('./UserImportWizard.tsx')).UserImportWizard
)

export const ImportUsers = withTranslation(function ImportUsers() {
  return <UserImportWizard />
})
