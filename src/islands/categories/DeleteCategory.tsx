import type { CompanyCategory } from '../../contract/company-categories.ts'
import { deleteCategory, reloadCategory } from '../../stores/admin/company-categories.ts'
import { DeleteItem } from '../details/DeleteItem.tsx'
import { useWords } from '../kit/use-words.ts'

interface DeleteCategoryProps {
  category: CompanyCategory
}

/** Deletes a category, or says what still uses it. */
export function DeleteCategory({ category }: DeleteCategoryProps) {
  const { locale, t } = useWords()
  return (
    <DeleteItem
      list="categories"
      name={category.names[locale]}
      words={(key, values) => t(`category.delete.${key}`, values)}
      uses={['deposits', 'groups', 'default']}
      usesWords={(use, count) => t(`category.delete.uses.${use}`, { count })}
      remove={() => deleteCategory(category)}
      reload={() => reloadCategory(category.id)}
    />
  )
}
