#include "director/serve/http/body_coding.h"

#include <cstdint>

#include "common/base/zstd_stream.h"
#include "director/serve/http/response_plan.h"
#include "director/serve/http/testing/gunzip.h"
#include "gtest/gtest.h"

namespace galley::director {
namespace {

using http::ContentCoding;

// Bytes without a pattern, always the same.
std::string Noise(size_t bytes) {
  std::string noise(bytes, '\0');
  uint64_t state = 1;
  for (char& c : noise) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    c = static_cast<char>(state >> 56);
  }
  return noise;
}

std::string Text(size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "line " + std::to_string(text.size()) + "\n";
  return text.substr(0, bytes);
}

TEST(BodyCodingTest, ZstdGivesTheBytesBackWithAWindowOfEightMebibytes) {
  const std::string text = Text(kCodedBodyBytesMax);
  const auto coded = CodeBody(text, ContentCoding::kZstd);
  ASSERT_TRUE(coded);
  EXPECT_LT(coded->size(), text.size() / 2);
  ZstdDecompressor decompressor({.output_bytes_max = text.size(), .window_log_max = 23});
  std::string decoded;
  const absl::Status status = decompressor.Append(*coded, [&](std::string_view piece) {
    decoded += piece;
    return absl::OkStatus();
  });
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(decompressor.Finish().ok());
  EXPECT_TRUE(decoded == text);
}

TEST(BodyCodingTest, GzipGivesTheBytesBack) {
  const std::string text = Text(100'000);
  const auto coded = CodeBody(text, ContentCoding::kGzip);
  ASSERT_TRUE(coded);
  EXPECT_LT(coded->size(), text.size() / 2);
  EXPECT_TRUE(Gunzip(*coded, text.size()) == text);
}

TEST(BodyCodingTest, BytesThatDoNotGetSmallerAreNotCoded) {
  for (const ContentCoding coding : {ContentCoding::kZstd, ContentCoding::kGzip})
    EXPECT_FALSE(CodeBody(Noise(100'000), coding));
}

TEST(BodyCodingTest, FourPercentAreTooLittle) {
  for (const ContentCoding coding : {ContentCoding::kZstd, ContentCoding::kGzip}) {
    EXPECT_FALSE(CodeBody(Noise(97'000) + std::string(3'000, 'a'), coding));
    EXPECT_TRUE(CodeBody(Noise(90'000) + std::string(10'000, 'a'), coding));
  }
}

}  // namespace
}  // namespace galley::director
