import { useState } from 'react'
import type { CompanyDetails } from '../../contract/companies.ts'
import { fieldLabel } from '../../i18n/field-label.ts'
import { type CompanyChanges, reloadCompany, updateCompany } from '../../stores/admin/companies.ts'
import { EditConflict } from '../forms/EditConflict.tsx'
import { Field } from '../forms/Field.tsx'
import { InPlaceForm } from '../forms/InPlaceEditor.tsx'
import { UnsavedGuard } from '../forms/UnsavedGuard.tsx'
import { useForm } from '../forms/use-form.ts'
import { useInputCheck } from '../forms/use-input-check.ts'
import { useVersionedSave } from '../forms/use-versioned-save.ts'
import { useRestoreFocus } from '../kit/use-restore-focus.ts'
import { useTranslation } from '../kit/use-translation.ts'

type Named = Pick<CompanyDetails, 'id' | 'version' | 'name'>

export function CompanyNameEditor({ company }: { company: Named }) {
  const { t } = useTranslation()
  const [isEditing, setEditing] = useState(false)
  const versioned = useVersionedSave<Named, CompanyChanges>({
    save: (changes, version) => updateCompany(company.id, changes, version),
    load: () => reloadCompany(company.id)
  })
  const opener = useRestoreFocus(isEditing || versioned.conflict !== undefined)
  if (versioned.conflict) {
    return <EditConflict versioned={versioned} wordsOf={(_, value) => String(value)} />
  }
  const close = () => setEditing(false)
  if (isEditing) {
    return (
      <NameForm
        company={company}
        save={(name, was) => versioned.change(was, { name })}
        close={close}
      />
    )
  }
  return (
    <div className="flex w-full flex-wrap items-baseline justify-between gap-x-4 gap-y-2">
      <p className="wrap-anywhere font-semibold">{company.name}</p>
      <button
        ref={opener}
        type="button"
        className="btn btn-outline btn-sm"
        onClick={() => setEditing(true)}
      >
        {t('companies.card.edit')}
      </button>
    </div>
  )
}

interface NameFormProps {
  company: Named
  save: (name: string, was: Named) => Promise<void>
  close: () => void
}

function NameForm({ company, save, close }: NameFormProps) {
  const { locale, t } = useTranslation()
  // the company may change while the form is open
  const [was] = useState(company)
  const check = useInputCheck('updateCompany')
  const form = useForm({
    what: 'Renaming the company failed',
    inputErrors: ({ name = '' }) => check({ id: was.id, name: name.trim() }),
    async send({ name = '' }) {
      await save(name.trim(), was)
      close()
    }
  })
  return (
    <>
      <InPlaceForm
        form={form}
        submit={t('companies.card.save')}
        className="w-full gap-4"
        cancel={t('companies.card.cancel')}
        close={close}
      >
        <Field
          label={fieldLabel('name', locale)}
          name="name"
          autoComplete="off"
          initial={was.name}
          hint={t('companies.nameHint')}
        />
      </InPlaceForm>
      <UnsavedGuard form={form} />
    </>
  )
}
