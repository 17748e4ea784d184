#include "common/vfs/sha256.h"

#include <array>
#include <string>

#include "common/vfs/blob_id.h"
#include "common/vfs/sha256_blocks.h"
#include "gtest/gtest.h"

namespace galley::vfs {
namespace {

// Source: NIST, "SHA-256 examples".
TEST(Sha256Test, TheExamplesOfTheStandard) {
  EXPECT_EQ(ToHex(Sha256::Of("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(ToHex(Sha256::Of("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(ToHex(Sha256::Of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(ToHex(Sha256::Of(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256Test, PiecesHaveTheHashOfTheWhole) {
  std::string bytes;
  for (size_t size = 0; size < 200; ++size) {
    Sha256 hash;
    for (size_t at = 0; at < size; at += 7)
      hash.Add(bytes.data() + at, std::min<size_t>(7, size - at));
    ASSERT_EQ(hash.Finish(), Sha256::Of(bytes)) << size;
    bytes += static_cast<char>(size * 31);
  }
}

TEST(Sha256Test, TheProcessorsInstructionsGiveTheSame) {
  const AddBlocks fast = FindFastAddBlocks();
  if (fast == nullptr) GTEST_SKIP() << "this processor has none";
  std::string bytes;
  for (int i = 0; i < 640; ++i) bytes += static_cast<char>(i * i * 37);
  const auto* const blocks = reinterpret_cast<const uint8_t*>(bytes.data());
  std::array<uint32_t, 8> portable = {1, 2, 3, 4, 5, 6, 7, 8}, by_processor = portable;
  AddBlocksPortably(portable, blocks, 10);
  fast(by_processor, blocks, 10);
  EXPECT_EQ(portable, by_processor);
}

}  // namespace
}  // namespace galley::vfs
