import { Problem } from '#platform/problem.ts'

export const brandProblem = Problem.define({
  brand_from_file: [
    409,
    'The file of BRAND has the brand',
    'Change the file and restart, or remove the setting BRAND to edit the brand here.',
  ],
})
