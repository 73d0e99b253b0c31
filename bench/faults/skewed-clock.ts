// Preloaded into a node (`node --import`): shifts its clock by SKEW_MS in every thread.
const offMs = Number(process.env.SKEW_MS ?? 0)
const RealDate = Date
const now = () => RealDate.now() + offMs

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new RealDate(now()).toString(),
  get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
})
