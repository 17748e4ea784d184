#include "common/base/read_pieces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/file.h"

namespace galley {
namespace {

class ReadPiecesTest : public testing::Test {
 protected:
  void TearDown() override { RemoveAll(folder_).IgnoreError(); }
  std::string In(const char* name) const { return JoinPath(folder_, name); }
  const std::string folder_ = *MakeTemporaryDirectory(::testing::TempDir(), "pieces-");
};

TEST_F(ReadPiecesTest, AllBytesComeInOrderAndNoPieceIsLong) {
  std::string bytes;
  while (bytes.size() < 3 * kPieceBytesMax) bytes += std::to_string(bytes.size());
  ASSERT_TRUE(WriteFileAtomic(In("file"), bytes).ok());
  std::string read;
  ASSERT_TRUE(ReadInPieces(In("file"), [&](std::string_view piece) {
                EXPECT_LE(piece.size(), kPieceBytesMax);
                read += piece;
                return absl::OkStatus();
              }).ok());
  EXPECT_TRUE(read == bytes);
  EXPECT_EQ(*DigestOfFile(In("file")), Digest::Of(bytes));
  const auto written = WriteInPieces(
      In("copy"), [&](const TakePiece& take) { return ReadInPieces(In("file"), take); });
  EXPECT_EQ(*written, Digest::Of(bytes));
  EXPECT_TRUE(*ReadFile(In("copy")) == bytes);
}

TEST_F(ReadPiecesTest, AnErrorOfTheTakerEndsIt) {
  ASSERT_TRUE(WriteFileAtomic(In("file"), std::string(3 * kPieceBytesMax, 'x')).ok());
  int pieces = 0;
  const absl::Status status = ReadInPieces(In("file"), [&](std::string_view) {
    ++pieces;
    return absl::DataLossError("full");
  });
  EXPECT_EQ(status, absl::DataLossError("full"));
  EXPECT_EQ(pieces, 1);
  EXPECT_TRUE(absl::IsNotFound(DigestOfFile(In("absent")).status()));
}

}  // namespace
}  // namespace galley
