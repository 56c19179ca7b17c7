import { useStore } from '@nanostores/react'
import { useState } from 'react'
import type { DataSource } from '../../contract/data-sources.ts'
import { $importFile } from '../../stores/imports/import-file.ts'
import {
  $registerImport,
  $registerImportMode,
  changeRegisterDialect,
  closeRegisterImport,
  openRegisterImport,
  readRegisterFile,
  registerFileKind
} from '../../stores/imports/register-imports.ts'
import { $registerUpload } from '../../stores/imports/register-uploads.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { FileFormatStep } from './FileFormatStep.tsx'
import { FileStep } from './FileStep.tsx'
import { RegisterAddress } from './RegisterAddress.tsx'
import { RegisterCheckStep } from './RegisterCheckStep.tsx'
import { RegisterColumnsStep } from './RegisterColumnsStep.tsx'
import { RegisterRunStep } from './RegisterRunStep.tsx'
import { WizardFrame, type WizardStep, writeImportAddress } from './WizardFrame.tsx'

export interface RegisterWizardProps {
  source: DataSource
}

export function RegisterImportWizard({ source }: RegisterWizardProps) {
  const { t } = useTranslation()
  const state = useStore($registerImport, { ssr: 'initial' })
  const file = useStore($importFile, { ssr: 'initial' })
  const mode = useStore($registerImportMode, { ssr: 'initial' })
  const upload = useStore($registerUpload, { ssr: 'initial' })
  const [isNaming, setNaming] = useState(false)
  const step = stepOf()

  function stepOf(): WizardStep {
    if (state.status === 'none') {
      if (file.status !== 'read') return 'file'
      return isNaming ? 'columns' : 'read'
    }
    if (state.status !== 'ready') return 'check'
    return ['done', 'undone'].includes(state.item.state) ? 'import' : 'check'
  }

  const again = () => {
    closeRegisterImport()
    setNaming(false)
    writeImportAddress(undefined)
  }
  const take = (chosen: File) => {
    setNaming(false)
    void readRegisterFile(source, chosen)
  }
  const isSending =
    state.status === 'ready' && upload.status === 'sending' && upload.id === state.item.id

  return (
    <WizardFrame
      step={step}
      state={state}
      open={id => openRegisterImport(source.id, id)}
      missingText={t('registerImports.missingText')}
      onAgain={again}
      isUnsaved={state.status === 'none' ? file.status === 'read' : isSending}
    >
      {step === 'file' && (
        <FileStep kind={registerFileKind} onFile={take}>
          <RegisterAddress source={source} onCreated={writeImportAddress} />
          {mode === 'append' && (
            <p className="alert alert-info alert-outline text-base-content">
              {t('registerImports.mended')}
            </p>
          )}
        </FileStep>
      )}
      {step === 'read' && file.status === 'read' && (
        <FileFormatStep
          kind={registerFileKind}
          file={file}
          onDialect={change => void changeRegisterDialect(source, change)}
          onNext={() => setNaming(true)}
          onBack={again}
        />
      )}
      {step === 'columns' && file.status === 'read' && (
        <RegisterColumnsStep
          source={source}
          file={file}
          onBack={() => setNaming(false)}
          onCreated={writeImportAddress}
        />
      )}
      {step === 'check' && state.status === 'ready' && (
        <RegisterCheckStep
          source={source}
          state={state}
          onAgain={again}
          onBack={() => writeImportAddress(undefined)}
        />
      )}
      {step === 'import' && state.status === 'ready' && (
        <RegisterRunStep
          source={source}
          state={state}
          onAgain={again}
          onAppend={() => {
            again()
            $registerImportMode.set('append')
          }}
        />
      )}
    </WizardFrame>
  )
}
