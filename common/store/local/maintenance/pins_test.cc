// Pins against collections.
#include "common/store/interface/pins.h"

#include <filesystem>

#include "common/store/local/maintenance/testing/gc_fixture.h"
#include "common/store/testing/memory_store.h"

namespace galley::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> NamesOf(StoreDirectory& store) {
  std::vector<std::string> names;
  const std::vector<Pin> pins = Pins(store).value();
  for (const Pin& pin : pins) names.push_back(pin.name);
  return names;
}

class PinsTest : public GcTest {
 protected:
  // A tree that nothing keeps.
  Digest Tree(const std::vector<Digest>& files) {
    tree::Directory root;
    for (size_t i = 0; i < files.size(); ++i)
      root.files.push_back({.name = fmt::format("{:04}", i), .digest = files[i]});
    return PutBytes(*store_, tree::EncodeDirectory(root));
  }
  absl::Status Set(const std::string& name, const Digest& root) {
    return SetPin(*store_, {.name = name, .root = root, .time = absl::FromUnixSeconds(7)});
  }
};

TEST_F(PinsTest, WhatIsPinnedStaysUntilThePinIsTakenAway) {
  const Digest file = Cook("file"), other = Cook("other"), root = Tree({file});
  ASSERT_TRUE(Set("sdk/1.2", root).ok());
  Pass(absl::Hours(48));
  Collect(kAll);
  EXPECT_TRUE(Has(file) && Has(root));
  EXPECT_FALSE(Has(other));
  // The pin also holds for an owner who opens the store after its index was lost.
  store_.reset();
  std::filesystem::remove_all(directory_ + "/index");
  Open();
  const std::vector<Pin> pins = Pins(*store_).value();
  ASSERT_EQ(pins.size(), 1u);
  EXPECT_EQ(pins[0].name, "sdk/1.2");
  EXPECT_EQ(pins[0].root, root);
  EXPECT_EQ(pins[0].time, absl::FromUnixSeconds(7));
  Pass(absl::Hours(48));
  Collect(kAll);
  EXPECT_TRUE(Has(file));
  ASSERT_TRUE(RemovePin(*store_, "sdk/1.2", absl::FromUnixSeconds(8)).ok());
  EXPECT_THAT(NamesOf(*store_), IsEmpty());
  Pass(absl::Hours(48));
  Collect(kAll);
  EXPECT_FALSE(Has(file) || Has(root));
}

TEST_F(PinsTest, OneOfTheSameNameIsReplaced) {
  const Digest old_file = Cook("old"), file = Cook("new"), kept = Cook("kept");
  ASSERT_TRUE(Set("b", Tree({old_file})).ok());
  ASSERT_TRUE(Set("a", Tree({kept})).ok());
  ASSERT_TRUE(Set("b", Tree({file})).ok());
  EXPECT_THAT(NamesOf(*store_), ElementsAre("a", "b"));
  Pass(absl::Hours(48));
  Collect(kAll);
  EXPECT_TRUE(Has(file) && Has(kept));
  EXPECT_FALSE(Has(old_file));
}

TEST_F(PinsTest, WhatIsNotWholeIsNotPinned) {
  const Digest file = Cook("file"), root = Tree({file});
  ASSERT_TRUE(Set("pin", root).ok());
  const absl::Status absent = Set("pin", Tree({file, Digest::Of("absent")}));
  EXPECT_TRUE(absl::IsNotFound(absent)) << absent;
  EXPECT_THAT(std::string(absent.message()), HasSubstr("0001"));
  EXPECT_TRUE(absl::IsNotFound(Set("pin", Digest::Of("no folder"))));
  EXPECT_TRUE(absl::IsInvalidArgument(Set("pin", file))) << "no tree";
  EXPECT_TRUE(absl::IsInvalidArgument(Set("pin", Digest())));
  EXPECT_TRUE(absl::IsInvalidArgument(Set("a pin", root)));
  EXPECT_TRUE(absl::IsInvalidArgument(Set("", root)));
  EXPECT_TRUE(absl::IsNotFound(RemovePin(*store_, "another", absl::UnixEpoch())));
  EXPECT_EQ(Pins(*store_)->at(0).root, root);
}

// A collection that drops a file at the moment when the pin is written.
class DropsAtPublish final : public MemoryStore {
 public:
  absl::StatusOr<uint64_t> Publish(const PublishedRoot& root) override {
    if (dropped_ != Digest()) Drop(std::exchange(dropped_, Digest()));
    return MemoryStore::Publish(root);
  }
  Digest dropped_;
};

TEST(PinsInMemoryTest, APinThatCameTooLateIsTakenBack) {
  DropsAtPublish store;
  const auto tree_of = [&](const Digest& file) {
    return PutBytes(store, tree::EncodeDirectory({.files = {{.name = "file", .digest = file}}}));
  };
  const Digest file = PutBytes(store, "file"), another = PutBytes(store, "another");
  const Digest before = tree_of(another);
  store.dropped_ = file;
  EXPECT_TRUE(absl::IsNotFound(SetPin(store, {.name = "pin", .root = tree_of(file)})));
  EXPECT_THAT(NamesOf(store), IsEmpty());
  ASSERT_TRUE(SetPin(store, {.name = "pin", .root = before}).ok());
  const Digest again = PutBytes(store, "file");
  store.dropped_ = again;
  EXPECT_TRUE(absl::IsNotFound(SetPin(store, {.name = "pin", .root = tree_of(again)})));
  EXPECT_EQ(Pins(store)->at(0).root, before);
}

TEST(PinsInMemoryTest, APinIsGoneWhenItsOldTreeIsToo) {
  class NoOldRoot final : public MemoryStore {
   public:
    absl::StatusOr<uint64_t> Publish(const PublishedRoot& root) override {
      if (root.root == refused_) return absl::FailedPreconditionError("it has no folder");
      if (dropped_ != Digest()) Drop(std::exchange(dropped_, Digest()));
      return MemoryStore::Publish(root);
    }
    Digest refused_, dropped_;
  } store;
  store.refused_ = Digest::Of("nothing");
  const auto tree_of = [&](const std::string& file) {
    return PutBytes(store, tree::EncodeDirectory(
                               {.files = {{.name = "file", .digest = PutBytes(store, file)}}}));
  };
  const Digest before = tree_of("before"), after = tree_of("after");
  ASSERT_TRUE(SetPin(store, {.name = "pin", .root = before}).ok());
  store.refused_ = before;
  store.dropped_ = Digest::Of("after");
  EXPECT_TRUE(absl::IsNotFound(SetPin(store, {.name = "pin", .root = after})));
  EXPECT_THAT(NamesOf(store), IsEmpty());
}

TEST(PinsInMemoryTest, RootsAreNamedForPeople) {
  EXPECT_EQ(NameOfRoot({.project_id = "abc", .platform = "windows", .sequence = 3}),
            "windows#3 of project abc");
  EXPECT_EQ(NameOfRoot({.project_id = "pin", .platform = "sdk", .sequence = 3}), "pin sdk");
}

}  // namespace
}  // namespace galley::store
