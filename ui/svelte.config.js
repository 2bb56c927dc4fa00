// Templates are built node by node: with Trusted Types nothing may be parsed from text.
export default { compilerOptions: { runes: true, fragments: 'tree', modernAst: true } }
