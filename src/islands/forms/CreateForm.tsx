import type { ComponentProps } from 'react'
import { Form } from './Form.tsx'
import { PasswordPrompt } from './PasswordPrompt.tsx'
import { UnsavedGuard } from './UnsavedGuard.tsx'
import type { FormState } from './use-form.ts'

/** The form of a page that creates an item of the administration. */
export function CreateForm(props: ComponentProps<typeof Form> & { form: FormState }) {
  return (
    <>
      <Form isSheet className="max-w-2xl gap-6" {...props} />
      <UnsavedGuard form={props.form} />
      <PasswordPrompt />
    </>
  )
}
