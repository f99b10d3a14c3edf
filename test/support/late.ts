/**
 * Stands for an object that is made before the first test of the file or describe in which it is declared, in the order of such
 * declarations, so that each is one line.
 */
export function late<T extends object>(make: () => Promise<T>): T {
  let made: T | undefined;
  beforeAll(async () => {
    made = await make();
  });
  const whole = (): T => {
    if (made) return made;
    throw new Error('it is made before the first test, not when the file is read');
  };
  return new Proxy({} as T, {
    get: (_stand, name) => {
      const member = Reflect.get(whole(), name) as unknown;
      // a method may use private members of its object
      return typeof member === 'function' ? (member.bind(made) as unknown) : member;
    },
    set: (_stand, name, value) => Reflect.set(whole(), name, value),
    has: (_stand, name) => Reflect.has(whole(), name),
    ownKeys: () => Reflect.ownKeys(whole()),
    getOwnPropertyDescriptor: (_stand, name) => {
      const own = Reflect.getOwnPropertyDescriptor(whole(), name);
      return own && { ...own, configurable: true };
    },
  });
}
