/** ioredis finds slots with this package, which has no types. */
declare module "cluster-key-slot" {
  export default function calculateSlot(key: string): number;
}
