// What the compiler does not see: nothing is parsed from text, no style attribute, no state that knows a pane.
import svelte from 'eslint-plugin-svelte'
import globals from 'globals'
import ts from 'typescript-eslint'

const parsesText = ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'srcdoc', 'createContextualFragment']

export default ts.config(
  { ignores: ['dist/', 'node_modules/', 'src/api/schema.d.ts', 'tests/out/'] },
  ...ts.configs.recommended,
  ...svelte.configs.recommended,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, extraFileExtensions: ['.svelte'] } },
  },
  {
    files: ['src/**'],
    rules: {
      'svelte/no-at-html-tags': 'error',
      'no-restricted-syntax': ['error', { selector: 'SvelteAttribute[key.name="style"]', message: 'A style attribute is refused by the policy: use a class or a style: directive.' }],
      'svelte/no-navigation-without-resolve': 'off',
      'svelte/prefer-svelte-reactivity': 'off',
      'no-eval': 'error',
      'no-restricted-properties': ['error', ...parsesText.map((property) => ({ property, message: 'Text nodes only.' })), { object: 'document', property: 'write' }],
    },
  },
  {
    files: ['src/state/**', 'src/api/**', 'src/router.ts', 'src/keys.ts'],
    rules: {
      'no-restricted-imports': ['error', { patterns: ['**/panes/*', '**/list/*', '**/message/*', '**/parts/*'] }],
    },
  },
  {
    files: ['src/panes/**', 'src/list/**', 'src/message/**', 'src/parts/**'],
    rules: {
      'no-restricted-globals': ['error', { name: 'fetch', message: 'State fetches, panes show.' }],
      'no-restricted-imports': ['error', { patterns: [{ group: ['**/api/client', '**/api/stream'], allowTypeImports: true, message: 'State fetches, panes show.' }] }],
    },
  },
)
