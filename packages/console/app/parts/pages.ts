import type { OperatorList } from '@trunkcall/contract';
import { keepPreviousData, useInfiniteQuery, type QueryKey } from '@tanstack/react-query';
import { read } from '../api.ts';

/** A list that is read page by page; `path` gets the place behind which to go on. */
export function usePages<Item>(queryKey: QueryKey, path: (after: string | null) => string) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => read<OperatorList<Item>>(path(pageParam)),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next_cursor,
    placeholderData: keepPreviousData,
  });
  const items = query.data?.pages.flatMap(({ data }) => data);
  return {
    data: items,
    error: query.error,
    refetch: query.refetch,
    hasMore: query.hasNextPage,
    loadingMore: query.isFetchingNextPage,
    more: () => void query.fetchNextPage(),
  };
}
