#include "director/shell/fenced_store.h"

#include "common/store/testing/memory_store.h"
#include "gmock/gmock.h"

namespace galley::director {
namespace {

using testing::ElementsAre;

TEST(FencedStoreTest, WhoWasOvertakenMakesNothingDurable) {
  absl::Status answer;
  auto memory = std::make_unique<store::MemoryStore>();
  store::MemoryStore& inner = *memory;
  FencedStore store(std::move(memory), [&] { return answer; });
  const std::string bytes = "bytes";
  ASSERT_TRUE(store.Put(Digest::Of(bytes), bytes).ok());
  ASSERT_TRUE(store.Commit({}).ok());
  ASSERT_TRUE(store.Publish({.project_id = "p", .platform = "pc", .root = Digest::Of("")}).ok());
  const store::LeaseChanges lease = {
      .taken = {{.name = "a", .root = Digest::Of(bytes), .until = absl::InfiniteFuture()}}};
  ASSERT_TRUE(store.ChangeLeases(lease).ok());
  answer = absl::FailedPreconditionError("overtaken");
  EXPECT_EQ(store.ChangeLeases({.released = {"a"}}), answer);
  EXPECT_EQ(store.Leases()->size(), 1u) << "they can be read";
  EXPECT_EQ(store.Commit({}), answer);
  EXPECT_EQ(store.Publish({.project_id = "p", .platform = "pc"}).status(), answer);
  EXPECT_EQ(store.Forget({}), answer);
  EXPECT_EQ(store.FindLost({}).status(), answer) << "it drops what is gone";
  EXPECT_EQ(store.Put(Digest::Of("more"), "more"), answer);
  const store::BlobView many[] = {{Digest::Of("more"), "more"}, {Digest::Of("most"), "most"}};
  EXPECT_THAT(store.PutMany(many), ElementsAre(answer, answer));
  EXPECT_EQ(inner.FindMissing({{Digest::Of("more"), Digest::Of("most")}})->size(), 2u);
  EXPECT_EQ(store.AllocateSegment().status(), answer) << "it would lie in the way of another's";
  EXPECT_EQ(inner.Roots("p")->size(), 1u);
  EXPECT_EQ(*store.Get(Digest::Of(bytes)).value(), bytes);
}

}  // namespace
}  // namespace galley::director
