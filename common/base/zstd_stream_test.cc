#include "common/base/zstd_stream.h"

#include <gtest/gtest.h>

#include <random>

namespace galley {
namespace {

// Bytes some of which repeat and some do not.
std::string Bytes(size_t size, uint32_t seed) {
  std::mt19937 random(seed);
  std::string bytes;
  while (bytes.size() < size) {
    if (random() % 3 == 0 && !bytes.empty()) {
      const size_t from = random() % bytes.size();
      bytes += bytes.substr(from, random() % 500);
    } else {
      for (int i = 0; i < 100; ++i) bytes.push_back(static_cast<char>(random()));
    }
  }
  bytes.resize(size);
  return bytes;
}

// Decompresses `bytes`, which are given in pieces of `piece_bytes`.
absl::StatusOr<std::string> Inflate(std::string_view bytes, ZstdDecompressor::Options options,
                                    size_t piece_bytes, size_t* largest = nullptr) {
  ZstdDecompressor decompressor(options);
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += piece_bytes) {
    const absl::Status status =
        decompressor.Append(bytes.substr(at, piece_bytes), [&](std::string_view piece) {
          out.append(piece);
          if (largest != nullptr) *largest = std::max(*largest, piece.size());
          return absl::OkStatus();
        });
    if (!status.ok()) return status;
  }
  if (const absl::Status status = decompressor.Finish(); !status.ok()) return status;
  return out;
}

std::string Deflate(std::string_view bytes, size_t piece_bytes, int level = 3) {
  ZstdCompressor compressor(level);
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += piece_bytes)
    compressor.Append(bytes.substr(at, piece_bytes), out);
  compressor.Finish(out);
  return out;
}

TEST(ZstdStreamTest, GivesBackWhatItTookWhateverThePieces) {
  for (const size_t size : {0, 1, 1000, 131'071, 131'072, 131'073, 700'000}) {
    const std::string bytes = Bytes(size, static_cast<uint32_t>(size));
    for (const size_t piece : {1009, 65'536, 1'000'000}) {
      const std::string packed = Deflate(bytes, piece);
      for (const size_t back : {997, 65'536, 1'000'000}) {
        const auto out = Inflate(packed, {.output_bytes_max = size}, back);
        ASSERT_TRUE(out.ok()) << out.status() << " " << size << " " << piece << " " << back;
        EXPECT_EQ(*out, bytes);
      }
    }
    EXPECT_EQ(*ZstdDecompress(ZstdCompress(bytes), size), bytes);
  }
  const std::string bytes = Bytes(3000, 7);
  EXPECT_EQ(*Inflate(Deflate(bytes, 1), {.output_bytes_max = 3000}, 1), bytes);
}

TEST(ZstdStreamTest, FramesMayFollowOneAnother) {
  const std::string bytes = Bytes(200'000, 1);
  ZstdCompressor compressor;
  std::string packed;
  compressor.Append(std::string_view(bytes).substr(0, 70'000), packed);
  compressor.Finish(packed);
  compressor.Append(std::string_view(bytes).substr(70'000), packed);
  compressor.Finish(packed);
  for (const size_t piece : {1, 4096, 1'000'000}) {
    EXPECT_EQ(*Inflate(packed, {.output_bytes_max = bytes.size()}, piece), bytes) << piece;
  }
}

TEST(ZstdStreamTest, ABombIsCutAtTheDeclaredSize) {
  const std::string bomb = ZstdCompress(std::string(64 << 20, 'x'), 19);
  ASSERT_LT(bomb.size(), 20'000u);
  for (const uint64_t size : {0, 1, 131'072, 1'000'000}) {
    uint64_t seen = 0;
    ZstdDecompressor decompressor({.output_bytes_max = size});
    const auto count = [&](std::string_view piece) {
      seen += piece.size();
      return absl::OkStatus();
    };
    const absl::Status status = decompressor.Append(bomb, count);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(status.message(), "zstd: more than " + std::to_string(size) + " bytes are inside");
    EXPECT_LE(seen, size);
    // The error stays, whatever comes next.
    EXPECT_EQ(decompressor.Append(ZstdCompress("x"), count), status);
    EXPECT_EQ(decompressor.Finish(), status);
  }
}

TEST(ZstdStreamTest, ExactlyTheDeclaredSizeIsNotTooMuch) {
  size_t largest = 0;
  const std::string packed = ZstdCompress(std::string(1 << 20, 'x'));
  EXPECT_TRUE(Inflate(packed, {.output_bytes_max = 1 << 20}, 1 << 20, &largest).ok());
  EXPECT_LE(largest, size_t{128} << 10);
  EXPECT_FALSE(Inflate(packed, {.output_bytes_max = (1 << 20) - 1}, 1 << 20).ok());
  // A frame without bytes inside does not pass the limit.
  EXPECT_TRUE(Inflate(packed + ZstdCompress(""), {.output_bytes_max = 1 << 20}, 1 << 20).ok());
}

TEST(ZstdStreamTest, RefusesWhatIsNoFrameAndWhatEndsInOne) {
  const std::string whole = ZstdCompress(Bytes(10'000, 3));
  EXPECT_EQ(ZstdDecompress("plain bytes", 100).status().message(),
            "zstd: Unknown frame descriptor");
  EXPECT_EQ(ZstdDecompress(whole + "plain bytes", 10'000).status().message(),
            "zstd: Unknown frame descriptor");
  EXPECT_EQ(ZstdDecompress(whole + whole.substr(0, 2), 10'000).status().message(),
            "zstd: ends inside a frame");
  for (size_t size = 1; size < whole.size(); ++size) {
    EXPECT_EQ(ZstdDecompress(std::string_view(whole).substr(0, size), 10'000).status().message(),
              "zstd: ends inside a frame");
  }
  EXPECT_EQ(*ZstdDecompress("", 0), "");
}

// The library recognizes such frames only when they come in a single piece.
TEST(ZstdStreamTest, RefusesFramesOfDrafts) {
  const std::string draft("\x27\xb5\x2f\xfd\x00\x10\xff\xff\x00", 9);
  EXPECT_EQ(ZstdDecompress(draft, 100).status().message(), "zstd: Unknown frame descriptor");
  const std::string skipped("\x5f\x2a\x4d\x18\x01\x00\x00\x00x", 9);
  EXPECT_EQ(*ZstdDecompress(skipped + ZstdCompress("bytes"), 100), "bytes");
  EXPECT_FALSE(ZstdDecompress("\x60\x2a\x4d\x18", 100).ok());
}

TEST(ZstdStreamTest, RefusesAFrameThatNeedsADictionary) {
  // Magic; a descriptor with a dictionary id of one byte, single segment; the id; a byte inside; a
  // last raw block of one byte.
  const std::string frame("\x28\xb5\x2f\xfd\x21\x07\x01\x09\x00\x00x", 11);
  EXPECT_EQ(ZstdDecompress(frame, 100).status().message(), "zstd: Dictionary mismatch");
  std::string without = frame;
  without[4] = '\x20';
  without.erase(5, 1);
  EXPECT_EQ(*ZstdDecompress(without, 100), "x");
}

// Found by the fuzzer: the library accepts such a frame when it comes in pieces.
TEST(ZstdStreamTest, AFrameHoldsWhatItDeclaresWhateverThePieces) {
  // Single segment with a checksum, 36 bytes declared, an empty last block.
  const std::string frame("\x28\xb5\x2f\xfd\x24\x24\x01\x00\x00\x99\xe9\xd8\x51", 13);
  for (size_t piece = 1; piece <= frame.size(); ++piece) {
    EXPECT_EQ(Inflate(frame, {.output_bytes_max = 100}, piece).status().code(),
              absl::StatusCode::kInvalidArgument)
        << piece;
  }
  // A frame of unknown size declares none; neither does a skippable frame.
  EXPECT_EQ(*Inflate(Deflate("some", 2), {.output_bytes_max = 4}, 1), "some");
  const std::string skippable("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
  EXPECT_EQ(*Inflate(skippable + ZstdCompress("some"), {.output_bytes_max = 4}, 1), "some");
}

TEST(ZstdStreamTest, RefusesAWindowThatIsTooLarge) {
  // A window of 2^24 and of 2^23 bytes, a last raw block of one byte.
  const std::string large("\x28\xb5\x2f\xfd\x00\x70\x09\x00\x00x", 10);
  const std::string largest_taken("\x28\xb5\x2f\xfd\x00\x68\x09\x00\x00x", 10);
  EXPECT_EQ(ZstdDecompress(largest_taken, 1).value_or("?"), "x");
  EXPECT_EQ(ZstdDecompress(large, 1).status().message(),
            "zstd: Frame requires too much memory for decoding");
  EXPECT_EQ(*Inflate(large, {.output_bytes_max = 1, .window_log_max = 24}, 100), "x");
}

TEST(ZstdStreamTest, AnErrorOfTheSinkEndsTheStream) {
  ZstdDecompressor decompressor({.output_bytes_max = 100});
  const absl::Status full = absl::ResourceExhaustedError("full");
  EXPECT_EQ(decompressor.Append(ZstdCompress("some"), [&](std::string_view) { return full; }),
            full);
  EXPECT_EQ(decompressor.Finish(), full);
}

}  // namespace
}  // namespace galley
