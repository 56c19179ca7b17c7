import { useState } from 'react'
import { ConfirmDialog } from '../kit/ConfirmDialog.tsx'
import { BusyButton } from './BusyButton.tsx'

interface ConfirmButtonProps {
  label: string
  name?: string | undefined
  look: string
  question: string
  yes: string
  no: string
  action: { start: (input: undefined) => Promise<void>; isWorking: boolean }
}

export function ConfirmButton(props: ConfirmButtonProps) {
  const { label, name, look, question, yes, no, action } = props
  const [isAsking, setAsking] = useState(false)
  return (
    <>
      <BusyButton
        label={label}
        name={name}
        look={look}
        isWorking={action.isWorking}
        onClick={() => {
          if (!action.isWorking) setAsking(true)
        }}
      />
      {isAsking && (
        <ConfirmDialog
          {...{ question, yes, no }}
          onYes={() => void action.start(undefined)}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  )
}
