#include "common/store/interface/kept_roots.h"

#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::ElementsAre;

PublishedRoot RootOf(std::string_view platform, uint64_t sequence, bool by_the_book,
                     uint32_t keep_roots) {
  return {.project_id = "project",
          .platform = std::string(platform),
          .sequence = sequence,
          .by_the_book = by_the_book,
          .keep_roots = keep_roots};
}

std::vector<uint64_t> Sequences(const std::vector<PublishedRoot>& roots) {
  std::vector<uint64_t> sequences;
  for (const PublishedRoot& root : roots) sequences.push_back(root.sequence);
  return sequences;
}

TEST(KeptRootsTest, AsManyByTheBookAsTheNewestSaysAndTheNewestOfAll) {
  EXPECT_THAT(Sequences(KeptRoots(std::vector{RootOf("pc", 6, false, 2), RootOf("pc", 5, true, 9),
                                              RootOf("pc", 4, false, 9), RootOf("pc", 3, true, 9),
                                              RootOf("pc", 2, true, 9)})),
              ElementsAre(6, 5, 3));
}

TEST(KeptRootsTest, EachPlatformAndProjectForItself) {
  PublishedRoot other = RootOf("pc", 7, true, 1);
  other.project_id = "other";
  EXPECT_THAT(
      Sequences(KeptRoots(std::vector{RootOf("pc", 3, true, 1), other, RootOf("deck", 2, true, 1),
                                      RootOf("pc", 1, true, 1)})),
      ElementsAre(3, 7, 2));
}

TEST(KeptRootsTest, TenWhenNobodySays) {
  std::vector<PublishedRoot> roots;
  for (uint64_t i = 20; i > 0; --i) roots.push_back(RootOf("pc", i, true, 0));
  EXPECT_EQ(KeptRoots(roots).size(), 10u);
}

}  // namespace
}  // namespace galley::store
