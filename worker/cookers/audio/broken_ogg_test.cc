// Ogg files that are damaged, cut or oddly made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <ogg/ogg.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>

#include "worker/cookers/audio/decode.h"
#include "worker/cookers/audio/testing/audio_cooking.h"

namespace galley::worker::audio {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class BrokenOggTest : public AudioCooking {};

TEST_F(BrokenOggTest, DamagedOggIsAnErrorAndNeverSilence) {
  const std::string wav = MakeWav(Beep(96'000), {});
  for (const json& settings : {json::object(), kVorbis}) {
    const std::string ogg = Cook(wav, settings).file;
    const auto error = [&](const std::string& bytes) {
      return ErrorOf(bytes, json::object(), "/Game/a.ogg");
    };
    for (size_t size = 0; size < ogg.size(); size += 97) {
      if (ogg.compare(size, 4, "OggS") == 0) continue;  // behind a whole page; see below
      ASSERT_NE(error(ogg.substr(0, size)), "OK") << size;
    }
    EXPECT_THAT(error(ogg.substr(0, ogg.size() - 1)), HasSubstr("ends within the page at byte"));
    std::string flipped = ogg;
    flipped[ogg.size() / 2] = static_cast<char>(flipped[ogg.size() / 2] ^ 1);
    EXPECT_THAT(error(flipped), HasSubstr("no Ogg page with a right sum"));
    const size_t second_page = ogg.find("OggS", 4);
    const size_t third_page = ogg.find("OggS", second_page + 4);
    std::string gap = ogg;
    EXPECT_THAT(error(gap.erase(second_page, third_page - second_page)),
                HasSubstr("has the number 2; expected 1: pages are missing"));
    EXPECT_THAT(error(ogg + ogg), HasSubstr("another stream begins at byte"));
    EXPECT_THAT(Cook(ogg + "tag", json::object(), "/Game/a.ogg").warnings,
                ElementsAre("3 bytes behind the stream's end are ignored"));
  }
}

// Changes a field of the page at `at`, and its checksum.
void SetPageHeader(std::string& ogg, size_t at, size_t offset, uint64_t value, size_t size) {
  std::memcpy(ogg.data() + at + offset, &value, size);
  auto* const page = reinterpret_cast<unsigned char*>(ogg.data() + at);
  const long header_size = 27 + page[26];
  ogg_page parts{.header = page,
                 .header_len = header_size,
                 .body = page + header_size,
                 .body_len = std::accumulate(page + 27, page + header_size, 0L)};
  ogg_page_checksum_set(&parts);
}

constexpr size_t kFlags = 5;
constexpr size_t kGranule = 6;

std::string WithoutEndMark(std::string ogg) {
  const size_t last_page = ogg.rfind("OggS");
  SetPageHeader(ogg, last_page, kFlags, ogg[last_page + kFlags] & ~4, 1);
  return ogg;
}

const char* const kUnmarkedEnd =
    "the last page is not marked as the stream's end; the file may have been cut there";

// 48 or 961 frames fit in a single page, which decoders without the mark cut at the other end.
TEST_F(BrokenOggTest, AnOggWithoutTheMarkOfItsEndIsCookedWithAWarning) {
  for (const json& settings : {json::object(), kVorbis}) {
    for (const uint64_t frames : {48, 961, 480'000}) {
      const std::string ogg = Cook(MakeWav(Beep(frames), {}), settings).file;
      const std::string unmarked = WithoutEndMark(ogg);
      ASSERT_NE(unmarked, ogg);
      EXPECT_THAT(Cook(unmarked, json::object(), "/Game/a.ogg").warnings, ElementsAre(kUnmarkedEnd))
          << settings << frames;
      EXPECT_EQ(CookAndDecode(unmarked, json::object(), "/Game/a.ogg").length, frames);
      const absl::StatusOr<Decoded> whole = Decode("ogg", ogg, {});
      const absl::StatusOr<Decoded> found = Decode("ogg", unmarked, {});
      ASSERT_TRUE(whole.ok() && found.ok()) << found.status();
      EXPECT_EQ(found->sound.samples, whole->sound.samples) << settings << frames;
    }
  }
}

TEST_F(BrokenOggTest, AnOggThatEndsBehindAWholePageIsCookedUpToThere) {
  for (const json& settings : {json::object(), kVorbis}) {
    std::string ogg = Cook(MakeWav(Beep(480'000), {}), settings).file;
    ogg.resize(ogg.rfind("OggS"));
    int64_t granule = 0;
    std::memcpy(&granule, ogg.data() + ogg.rfind("OggS") + kGranule, sizeof(granule));
    EXPECT_THAT(Cook(ogg, json::object(), "/Game/a.ogg").warnings, ElementsAre(kUnmarkedEnd));
    const uint64_t length = CookAndDecode(ogg, json::object(), "/Game/a.ogg").length;
    EXPECT_LE(length, static_cast<uint64_t>(granule));
    EXPECT_GT(length, static_cast<uint64_t>(granule) - 1'000) << "without Opus' pre-skip";
    EXPECT_THAT(ErrorOf(ogg.substr(0, ogg.size() - 1), json::object(), "/Game/a.ogg"),
                HasSubstr("ends within the page at byte"));
    EXPECT_THAT(ErrorOf(ogg + "tag", json::object(), "/Game/a.ogg"),
                HasSubstr("ends within the page at byte"));
    // Only the headers are left.
    const size_t second_page = ogg.find("OggS", 4);
    EXPECT_THAT(ErrorOf(ogg.substr(0, second_page), json::object(), "/Game/a.ogg"),
                HasSubstr("(the last page is not marked as the stream's end"));
    EXPECT_THAT(
        ErrorOf(ogg.substr(0, ogg.find("OggS", second_page + 4)), json::object(), "/Game/a.ogg"),
        HasSubstr("ogg: "));
  }
}

TEST_F(BrokenOggTest, AnOggThatEndsWithinAPacketIsAnError) {
  for (const json& settings : {json::object(), kVorbis}) {
    std::string ogg = WithoutEndMark(Cook(MakeWav(Beep(480'000), {}), settings).file);
    const size_t page = ogg.rfind("OggS");
    const size_t last_segment = page + 26 + static_cast<unsigned char>(ogg[page + 26]);
    ogg.append(255 - static_cast<unsigned char>(ogg[last_segment]), 'x');
    SetPageHeader(ogg, page, last_segment - page, 255, 1);
    EXPECT_EQ(ErrorOf(ogg, json::object(), "/Game/a.ogg"),
              "ogg: the file is truncated: its last packet continues on a page that is not there");
  }
}

// The offsets of the pages of an Ogg file, and the end of the last page.
std::vector<size_t> PagesOf(const std::string& ogg) {
  std::vector<size_t> pages;
  for (size_t at = ogg.find("OggS"); at != std::string::npos; at = ogg.find("OggS", at + 4))
    pages.push_back(at);
  pages.push_back(ogg.size());
  return pages;
}

// An encoder of 2001 wrote such files; the standard demands that the sound begins on a page of its
// own.
TEST_F(BrokenOggTest, SoundOnThePageOfTheHeadersIsLeftOutWithAWarning) {
  constexpr size_t kNumber = 18;
  constexpr size_t kSegments = 26;
  const std::string ogg = Cook(MakeWav(Beep(480'000), {}), kVorbis).file;
  const std::vector<size_t> pages = PagesOf(ogg);
  ASSERT_GT(pages.size(), 5u);
  const std::string headers = ogg.substr(pages[1], pages[2] - pages[1]);
  const std::string sound = ogg.substr(pages[2], pages[3] - pages[2]);
  const auto count = [](const std::string& page) {
    return static_cast<size_t>(static_cast<unsigned char>(page[kSegments]));
  };
  ASSERT_LT(count(headers) + count(sound), 256u);
  const size_t lacing = kSegments + 1;
  std::string both = headers.substr(0, kSegments);
  both.replace(kGranule, 8, sound.substr(kGranule, 8));
  both += static_cast<char>(count(headers) + count(sound));
  both += headers.substr(lacing, count(headers)) + sound.substr(lacing, count(sound));
  both += headers.substr(lacing + count(headers)) + sound.substr(lacing + count(sound));
  std::string merged = ogg.substr(0, pages[1]) + both + ogg.substr(pages[3]);
  uint32_t number = 0;
  for (const size_t at : PagesOf(merged)) {
    if (at < merged.size()) SetPageHeader(merged, at, kNumber, number++, sizeof(number));
  }
  const absl::StatusOr<Decoded> decoded = Decode("ogg", merged, {});
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_GT(decoded->begin_frame, 0u);
  EXPECT_EQ(decoded->begin_frame + decoded->sound.frames(), 480'000u);
  EXPECT_THAT(decoded->warnings, ElementsAre(HasSubstr("lie on the page of the headers")));
  const absl::StatusOr<Decoded> whole = Decode("ogg", ogg, {});
  ASSERT_TRUE(whole.ok()) << whole.status();
  // The comparison begins behind the first block, which overlaps with no block before it.
  const std::span<const float> end(whole->sound.samples);
  const std::span<const float> found(decoded->sound.samples);
  EXPECT_TRUE(std::ranges::equal(end.last(found.size() - 4'096), found.last(found.size() - 4'096)));
  // A cut is found in such files, too.
  merged.resize(merged.rfind("OggS"));
  const size_t last = merged.rfind("OggS");
  SetPageHeader(merged, last, kFlags, 4, 1);
  SetPageHeader(merged, last, kGranule, 480'000, 8);
  EXPECT_THAT(ErrorOf(merged, json::object(), "/Game/a.ogg"),
              HasSubstr("it promises 480000 frames"));
}

TEST_F(BrokenOggTest, AnOggThatPromisesAnotherLengthIsAnError) {
  for (const json& settings : {json::object(), kVorbis}) {
    const std::string ogg = Cook(MakeWav(Beep(480'000), {}), settings).file;
    const auto error_with = [&](uint64_t granule) {
      std::string changed = ogg;
      SetPageHeader(changed, ogg.rfind("OggS"), kGranule, granule, sizeof(granule));
      return ErrorOf(changed, json::object(), "/Game/a.ogg");
    };
    uint64_t granule = 0;
    std::memcpy(&granule, ogg.data() + ogg.rfind("OggS") + kGranule, sizeof(granule));
    EXPECT_EQ(error_with(granule), "OK");
    EXPECT_EQ(error_with(granule - 10), "OK");
    EXPECT_THAT(error_with(granule + 960'000),
                HasSubstr("the file is truncated or damaged: it promises 1440000 frames"));
    for (const uint64_t odd : {uint64_t{1} << 62, UINT64_MAX, uint64_t{1} << 63})
      EXPECT_NE(error_with(odd), "OK") << odd;
    // The last page is lost, and the page before it is marked as the end and keeps its promise.
    const size_t last_page = ogg.rfind("OggS");
    std::string cut = ogg.substr(0, last_page);
    SetPageHeader(cut, cut.rfind("OggS"), kFlags, 4, 1);
    SetPageHeader(cut, cut.rfind("OggS"), kGranule, granule, sizeof(granule));
    EXPECT_THAT(ErrorOf(cut, json::object(), "/Game/a.ogg"),
                HasSubstr("it promises 480000 frames"));
  }
}

TEST_F(BrokenOggTest, OggPagesThatComeAgainAreErrors) {
  constexpr size_t kNumber = 18;
  const auto error = [&](const std::string& bytes) {
    return ErrorOf(bytes, json::object(), "/Game/a.ogg");
  };
  for (const json& settings : {json::object(), kVorbis}) {
    const std::string ogg = Cook(MakeWav(Beep(480'000), {}), settings).file;
    const size_t last = ogg.rfind("OggS");
    const size_t before = ogg.rfind("OggS", last - 1);
    const std::string page = ogg.substr(before, last - before);
    uint32_t number = 0;
    std::memcpy(&number, page.data() + kNumber, sizeof(number));
    for (const int times : {1, 1'000}) {
      std::string again = ogg.substr(0, last);
      for (int i = 0; i < times; ++i) again += page;
      again += ogg.substr(last);
      EXPECT_EQ(error(again), "ogg: the page at byte " + std::to_string(last) + " has the number " +
                                  std::to_string(number) + "; expected " +
                                  std::to_string(number + 1) + ": a page comes again");
      // The pages have the numbers and checksums of a whole stream.
      uint32_t next = number;
      for (size_t at = before; at != std::string::npos; at = again.find("OggS", at + 4))
        SetPageHeader(again, at, kNumber, next++, sizeof(next));
      EXPECT_THAT(error(again), HasSubstr("ogg: the file is ")) << settings << times;
    }
    const size_t second = ogg.find("OggS", 4);
    EXPECT_THAT(error(ogg.substr(0, second) + ogg),
                HasSubstr("another stream begins or goes on at byte " + std::to_string(second)));
  }
}

// In a stream of a single page, a granule position beyond the frames says that the stream began
// before the file.
TEST_F(BrokenOggTest, AnOggThatBeginsWithinItsStreamIsWarnedOf) {
  for (const json& settings : {json::object(), kVorbis}) {
    std::string ogg = Cook(MakeWav(Beep(9'600), {}), settings).file;
    EXPECT_THAT(Cook(ogg, json::object(), "/Game/a.ogg").warnings, IsEmpty());
    const size_t last_page = ogg.rfind("OggS");
    uint64_t granule = 0;
    std::memcpy(&granule, ogg.data() + last_page + 6, sizeof(granule));
    SetPageHeader(ogg, last_page, 6, granule + 960'000, sizeof(granule));
    const Cooked cooked = Cook(ogg, json::object(), "/Game/a.ogg");
    EXPECT_TRUE(cooked.status.ok()) << settings << cooked.status;
    EXPECT_THAT(cooked.warnings, ElementsAre(HasSubstr("ends the sound at frame 969600, and")));
  }
}

}  // namespace
}  // namespace galley::worker::audio
