// Controls whose values are search parameters of the address.
import {
  NativeSelect,
  type NativeSelectProps,
  Select,
  type SelectProps,
  TextInput,
  type TextInputProps,
} from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconSearch } from '@tabler/icons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'

const useAnySearch = () => useSearch({ strict: false })
type Search = ReturnType<typeof useAnySearch>

/** Returns a function that changes search parameters, and returns to the first page of a list. */
export function useSetSearch(): (next: Search) => void {
  const navigate = useNavigate()
  return (next) =>
    void navigate({
      to: '.',
      search: (search) => ({ ...search, page: undefined, ...next }),
      replace: true,
      resetScroll: false,
    })
}

/** Returns a parameter as text, and a function that sets it; null is the absent parameter. */
function useParameter(name: keyof Search): [string | null, (value: string | null) => void] {
  const value = useAnySearch()[name]
  const setSearch = useSetSearch()
  return [
    value === undefined ? null : String(value),
    (next) => setSearch({ [name]: next || undefined }),
  ]
}

type Named<Props> = Props & { name: keyof Search }

type NativeFilterProps = Named<NativeSelectProps> & {
  /** The first choice, for the absent parameter. */
  all?: string
  data: { value: string; label: string }[]
}

export function NativeFilter({ name, all, data, ...props }: NativeFilterProps) {
  const [value, setValue] = useParameter(name)
  return (
    <NativeSelect
      {...props}
      value={value ?? ''}
      onChange={({ currentTarget }) => setValue(currentTarget.value)}
      data={all === undefined ? data : [{ value: '', label: all }, ...data]}
    />
  )
}

/** Without a choice, its placeholder shows. */
export function SelectFilter({ name, ...props }: Named<SelectProps>) {
  const [value, setValue] = useParameter(name)
  return <Select clearable {...props} value={value} onChange={setValue} />
}

const PAUSE_MS = 250

/** Searches for `q` while the user types. */
export function SearchField(props: TextInputProps) {
  const [value, setValue] = useParameter('q')
  const search = useDebouncedCallback((typed: string) => setValue(typed.trim()), PAUSE_MS)
  return (
    <TextInput
      type="search"
      leftSection={<IconSearch size={18} aria-hidden />}
      maxLength={254}
      {...props}
      defaultValue={value ?? ''}
      onChange={({ currentTarget }) => search(currentTarget.value)}
    />
  )
}
