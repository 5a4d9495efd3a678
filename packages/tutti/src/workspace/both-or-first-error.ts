/** Like `Promise.all`, but waits for both promises, and throws the error of `first` if both fail. */
export async function bothOrFirstError<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  const [one, other] = await Promise.allSettled([first, second]);
  if (one.status === "rejected") throw one.reason;
  if (other.status === "rejected") throw other.reason;
  return [one.value, other.value];
}
