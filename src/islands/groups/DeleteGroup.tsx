import type { Group } from '../../contract/groups.ts'
import { deleteGroup, reloadGroup } from '../../stores/admin/groups.ts'
import { DeleteItem } from '../details/DeleteItem.tsx'
import { useWords } from '../kit/use-words.ts'

interface DeleteGroupProps {
  group: Group
}

/** Deletes a group, or says what still uses it. */
export function DeleteGroup({ group }: DeleteGroupProps) {
  const { t } = useWords()
  return (
    <DeleteItem
      list="groups"
      name={group.name}
      words={(key, values) => t(`groups.delete.${key}`, values)}
      uses={['users', 'keys', 'deposits', 'requests']}
      usesWords={(use, count) => t(`groups.delete.uses.${use}`, { count })}
      remove={() => deleteGroup(group)}
      reload={() => reloadGroup(group.id)}
    />
  )
}
