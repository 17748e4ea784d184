#include "director/resident/left_leases.h"

#include <string>
#include <utility>
#include <vector>

#include "common/store/testing/memory_store.h"
#include "common/tree/linked_directory.h"
#include "director/devices/node_path.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr char kLeftProject[] = "3f9a2c11";

// CountingStore: a store that counts what is read, and can be away.
class CountingStore final : public store::MemoryStore {
 public:
  absl::StatusOr<Blob> Get(const Digest& digest) override {
    ++reads;
    if (is_away) return absl::UnavailableError("the owner is away");
    return MemoryStore::Get(digest);
  }
  int reads = 0;
  bool is_away = false;
};

class LeftLeasesTest : public testing::Test {
 protected:
  static devices::DeviceWorld LinuxWorld() {
    return {.project = kLeftProject, .platform = "linux", .identity = Digest::Of("files")};
  }
  // Puts a root that has nothing but the file `world`.
  Digest PutRoot() {
    const std::string text = devices::EncodeDeviceWorld(LinuxWorld());
    tree::FileNode file;
    file.name = std::string(devices::kWorldFile);
    file.digest = Digest::Of(text);
    tree::LinkedDirectory root;
    root.files.push_back(file);
    const std::string folder = tree::EncodeLinkedDirectory(root);
    EXPECT_TRUE(store_.Put(Digest::Of(text), text).ok());
    EXPECT_TRUE(store_.Put(Digest::Of(folder), folder).ok());
    return Digest::Of(folder);
  }
  void Lease(const std::string& name, const Digest& root) {
    store::LeaseChanges changes;
    changes.taken.push_back(
        {.name = name, .root = root, .until = absl::UnixEpoch() + absl::Hours(1)});
    ASSERT_TRUE(store_.ChangeLeases(changes).ok());
  }
  absl::StatusOr<LeftLeases> Read() { return ReadLeftLeases(store_, kLeftProject, stop_); }

  CountingStore store_;
  Cancellation stop_;
};

TEST_F(LeftLeasesTest, LeasesOfTheProjectComeWithTheirWorlds) {
  const Digest root = PutRoot();
  Lease("3f9a2c11/device-session/a", root);
  Lease("3f9a2c11/device-last-good/b", root);
  Lease("other/device-session/c", root);
  const LeftLeases left = Read().value();
  ASSERT_THAT(left.readable, SizeIs(2));
  EXPECT_THAT(left.all, SizeIs(2));
  EXPECT_EQ(left.readable[0].owner, (devices::LeaseOwner{.session = "b", .takes_last_good = true}));
  EXPECT_EQ(left.readable[1].owner, (devices::LeaseOwner{.session = "a"}));
  EXPECT_EQ(left.readable[1].lease.root, root);
  EXPECT_EQ(left.readable[1].world, LinuxWorld());
}

TEST_F(LeftLeasesTest, ARootOfManySessionsIsReadOnce) {
  const Digest root = PutRoot();
  for (int i = 0; i < 100; ++i) Lease("3f9a2c11/device-session/" + std::to_string(i), root);
  EXPECT_THAT(Read().value().readable, SizeIs(100));
  EXPECT_EQ(store_.reads, 2);
}

TEST_F(LeftLeasesTest, ARootThatIsGoneIsGivenUpAndAStoreThatIsAwayIsNot) {
  const Digest root = PutRoot();
  Lease("3f9a2c11/device-session/a", root);
  store_.Drop(root);
  const LeftLeases left = Read().value();
  EXPECT_THAT(left.readable, IsEmpty());
  EXPECT_THAT(left.all, SizeIs(1));
  store_.is_away = true;
  EXPECT_TRUE(absl::IsUnavailable(Read().status()));
}

TEST_F(LeftLeasesTest, TheEndOfTheDirectorEndsIt) {
  Lease("3f9a2c11/device-session/a", PutRoot());
  stop_.Cancel();
  EXPECT_TRUE(absl::IsCancelled(Read().status()));
}

}  // namespace
}  // namespace galley::director
