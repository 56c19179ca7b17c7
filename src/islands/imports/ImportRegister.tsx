import { $dataSource, showDataSource } from '../../stores/admin/data-sources.ts'
import { DetailFrame } from '../details/DetailFrame.tsx'
import { lazyComponent } from '../kit/LazyComponent.tsx'
import { useTranslation, withTranslation } from '../kit/use-translation.ts'
import type { RegisterWizardProps } from './RegisterImportWizard.tsx'

const RegisterImportWizard = lazyComponent<RegisterWizardProps>(
  async () => (await import('./RegisterImportWizard.tsx')).RegisterImportWizard
)

export const ImportRegister = withTranslation(function ImportRegister() {
  const { t } = useTranslation()
  return (
    <DetailFrame
      store={$dataSource}
      open={showDataSource}
      param="data_source"
      list="dataSources"
      missing={key => t(`dataSources.missing.${key}`)}
      nameOf={({ name }) => t('registerImports.titleOf', { name })}
    >
      {source => <RegisterImportWizard source={source} />}
    </DetailFrame>
  )
})
