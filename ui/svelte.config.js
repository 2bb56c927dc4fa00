// Templates are built node by node: with Trusted Types nothing may be parsed from text. Scopes of styles are named by what is in
// them, shortly: each element carries one.
export default {
  compilerOptions: { runes: true, fragments: 'tree', modernAst: true, cssHash: ({ hash, css }) => `s${hash(css).slice(0, 4)}` },
}
