#include "common/record/result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "build/bazel/remote/execution/v2/remote_execution.pb.h"
#include "common/record/testing/sample.h"
#include "common/tree/testing/golden.h"
#include "galley/v1/record.pb.h"

namespace galley::record {
namespace {

namespace reapi = build::bazel::remote::execution::v2;
using testing::HasSubstr;

reapi::ActionResult Parsed(const Result& result) {
  reapi::ActionResult message;
  EXPECT_TRUE(message.ParseFromString(EncodeResult(result)));
  return message;
}

Result SampleVerdict() {
  Result result = SampleResult();
  result.outputs.clear();
  result.is_verdict = true;
  result.error = "PNG is truncated";
  return result;
}

TEST(DetailsTest, EncodingIsTheGolden) {
  ExpectGolden("common/record/testdata/details.hex", HexLines(EncodeDetails(SampleDetails())));
}

TEST(DetailsTest, ProtobufReadsAndWritesTheSameBytes) {
  const std::string bytes = EncodeDetails(SampleDetails());
  v1::Details message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  EXPECT_EQ(message.SerializeAsString(), bytes);
  EXPECT_EQ(message.references(1).kind(), 2u);
  EXPECT_EQ(message.generated(0).source().hash(), Digest::Of("cell").hex());
  EXPECT_EQ(message.warnings_size(), 3);
}

TEST(DetailsTest, DecodingGivesBackWhatWasEncoded) {
  EXPECT_EQ(*DecodeDetails(EncodeDetails(SampleDetails())), SampleDetails());
  EXPECT_EQ(*DecodeDetails(EncodeDetails({})), Details());
}

TEST(DetailsTest, NothingIsStillSomeBytes) { EXPECT_NE(EncodeDetails({}), ""); }

TEST(DetailsTest, TheOrderInWhichThingsWereFoundDoesNotMatterButThatOfWarnings) {
  Details shuffled = SampleDetails();
  std::reverse(shuffled.references.begin(), shuffled.references.end());
  std::reverse(shuffled.generated.begin(), shuffled.generated.end());
  std::reverse(shuffled.tags.begin(), shuffled.tags.end());
  shuffled.references.push_back(shuffled.references[0]);
  EXPECT_EQ(EncodeDetails(shuffled), EncodeDetails(SampleDetails()));
  std::swap(shuffled.warnings[0], shuffled.warnings[1]);
  EXPECT_NE(EncodeDetails(shuffled), EncodeDetails(SampleDetails()));
}

TEST(DetailsTest, NegativeZeroIsZero) {
  EXPECT_EQ(EncodeDetails({.tags = {{"a", -0.0}}}), EncodeDetails({.tags = {{"a", 0.0}}}));
}

std::string DetailsRefusal(const std::function<void(v1::Details&)>& spoil) {
  v1::Details message;
  EXPECT_TRUE(message.ParseFromString(EncodeDetails(SampleDetails())));
  spoil(message);
  const auto decoded = DecodeDetails(message.SerializeAsString());
  EXPECT_EQ(decoded.status().code(), absl::StatusCode::kInvalidArgument);
  return decoded.status().ToString();
}

TEST(DetailsTest, WhatEncodeDetailsWouldNotHaveWrittenIsRefused) {
  EXPECT_THAT(DetailsRefusal([](auto& m) { m.set_schema(2); }), HasSubstr("schema 2, expected 1"));
  EXPECT_THAT(DetailsRefusal([](auto& m) { m.clear_schema(); }), HasSubstr("schema 0"));
  EXPECT_THAT(DetailsRefusal([](auto& m) { m.mutable_references()->SwapElements(0, 1); }),
              HasSubstr("reference 1: not after"));
  EXPECT_THAT(DetailsRefusal([](auto& m) { *m.add_references() = m.references(2); }),
              HasSubstr("reference 3: not after"));
  EXPECT_THAT(DetailsRefusal([](auto& m) { m.mutable_references(0)->set_kind(4); }),
              HasSubstr("reference 0: kind 4"));
  EXPECT_THAT(
      DetailsRefusal([](auto& m) { m.mutable_generated(1)->set_name("_gen/cell_0_1.level"); }),
      HasSubstr("generated 1: not after"));
  EXPECT_THAT(DetailsRefusal([](auto& m) { m.mutable_tags(0)->set_kind(9); }),
              HasSubstr("tag 0: kind 9"));
  EXPECT_THAT(DetailsRefusal([](auto& m) { m.mutable_tags(0)->set_text("x"); }),
              HasSubstr("canonical"));
  EXPECT_THAT(
      DetailsRefusal([](auto& m) { m.mutable_tags(3)->set_number_bits(0x7ff0000000000000); }),
      HasSubstr("not finite"));
  EXPECT_THAT(
      DetailsRefusal([](auto& m) { m.mutable_tags(4)->set_number_bits(0x8000000000000000); }),
      HasSubstr("canonical"));
  EXPECT_FALSE(DecodeDetails(EncodeDetails({}) + std::string("\x32\x00", 2)).ok());
}

TEST(DetailsTest, GeneratedNamesStayBelowTheirPackage) {
  for (const char* name : {"cell", "_gen", "_gen/", "_gen/../x", "/_gen/x", "_gen//x", "_gen/x/",
                           "_gen/a\\b", "_gen/a\nb", "_gen/\xff"}) {
    EXPECT_THAT(DetailsRefusal([&](auto& m) { m.mutable_generated(0)->set_name(name); }),
                HasSubstr("expected _gen/"))
        << name;
  }
  EXPECT_TRUE(ValidateGeneratedName("_gen/a/b.png").ok());
}

TEST(ResultTest, EncodingsAreTheGoldens) {
  ExpectGolden("common/record/testdata/result.hex", HexLines(EncodeResult(SampleResult())));
  ExpectGolden("common/record/testdata/verdict.hex", HexLines(EncodeResult(SampleVerdict())));
}

TEST(ResultTest, ProtobufReadsAndWritesTheSameBytes) {
  const reapi::ActionResult message = Parsed(SampleResult());
  EXPECT_EQ(message.SerializeAsString(), EncodeResult(SampleResult()));
  ASSERT_EQ(message.output_files_size(), 4);
  EXPECT_EQ(message.output_files(0).path(), "out/details");
  EXPECT_EQ(message.output_files(1).path(), "out/output");
  EXPECT_EQ(message.output_files(2).path(), "out/output.d/lod1.glb");
  EXPECT_EQ(message.execution_metadata().worker_start_timestamp().nanos(), 5);
  v1::Provenance provenance;
  ASSERT_TRUE(message.execution_metadata().auxiliary_metadata(0).UnpackTo(&provenance));
  EXPECT_EQ(provenance.machine(), "build-7");
  EXPECT_EQ(provenance.SerializeAsString(),
            message.execution_metadata().auxiliary_metadata(0).value());
}

TEST(ResultTest, DecodingGivesBackWhatWasEncoded) {
  Result received = SampleResult();
  received.provenance.received_from = "grpcs://cas.farm:8980";
  received.provenance.weak_key = Digest::Of("weak");
  for (const Result& result : {SampleResult(), SampleVerdict(), Result(), received}) {
    const auto decoded = DecodeResult(EncodeResult(result));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_TRUE(SameOutcome(*decoded, result));
    EXPECT_EQ(decoded->log, result.log);
    EXPECT_EQ(decoded->provenance.started, result.provenance.started);
    EXPECT_EQ(decoded->provenance.save_time, result.provenance.save_time);
    EXPECT_EQ(decoded->provenance.memory_peak_bytes, result.provenance.memory_peak_bytes);
    EXPECT_EQ(decoded->provenance.received_from, result.provenance.received_from);
    EXPECT_EQ(decoded->provenance.weak_key, result.provenance.weak_key);
    EXPECT_EQ(EncodeResult(*decoded), EncodeResult(result));
  }
}

TEST(ResultTest, TimesOutsideTheRangeOfATimestampAreKeptInIt) {
  for (const absl::Time time :
       {absl::InfinitePast(), absl::InfiniteFuture(), absl::FromUnixNanos(-1)}) {
    Result result = SampleResult();
    result.provenance.started = time;
    const auto decoded = DecodeResult(EncodeResult(result));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(EncodeResult(*decoded), EncodeResult(result));
  }
}

TEST(ResultTest, WhereItWasCookedIsNoPartOfTheOutcome) {
  Result other = SampleResult();
  other.provenance = {};
  other.log.reset();
  std::reverse(other.outputs.begin(), other.outputs.end());
  EXPECT_TRUE(SameOutcome(SampleResult(), other));
}

TEST(ResultTest, AnyOtherDifferenceIsAnotherOutcome) {
  const std::function<void(Result&)> changes[] = {
      [](Result& r) { r.outputs.pop_back(); },
      [](Result& r) { r.outputs[0].digest = Digest::Of("x"); },
      [](Result& r) { r.outputs[0].is_executable = false; },
      [](Result& r) { r.outputs[2].suffix = ".essl"; },
      [](Result& r) { r.details.warnings.pop_back(); },
      [](Result& r) { r.details.references[0].kind = ReferenceKind::kSoft; },
      [](Result& r) { r.details.tags[0].value = false; },
      [](Result& r) { r.details.generated[0].source = Digest::Of("x"); },
      [](Result& r) { r.is_verdict = true; },
      [](Result& r) { r.error = "x"; },
  };
  for (const auto& change : changes) {
    Result other = SampleResult();
    change(other);
    EXPECT_FALSE(SameOutcome(SampleResult(), other));
  }
}

TEST(ResultTest, WhatAnotherServerAddsIsSkipped) {
  reapi::ActionResult message = Parsed(SampleResult());
  message.set_stdout_raw("hello");
  message.mutable_execution_metadata()->mutable_queued_timestamp()->set_seconds(5);
  message.mutable_execution_metadata()->add_auxiliary_metadata()->set_type_url("x/y.Z");
  message.mutable_output_files()->SwapElements(0, 3);
  const auto decoded = DecodeResult(message.SerializeAsString() + std::string("\xfa\x01\x01x"));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(EncodeResult(*decoded), EncodeResult(SampleResult()));
}

absl::Status Refusal(const std::function<void(reapi::ActionResult&)>& spoil) {
  reapi::ActionResult message = Parsed(SampleResult());
  spoil(message);
  return DecodeResult(message.SerializeAsString()).status();
}

TEST(ResultTest, OutputsThatLeaveThePackageAreRefused) {
  for (const char* path :
       {"", "out", "out/other", "out/output/", "out/output/x", "out/outputx", "out/output..",
        "out/output.d/../x", "out/output.d/", "out/output.d//x", "out/output.d", "out/output.a/b",
        "/out/output", "../out/output", "out/output.a\\b", "out/output.\n", "out/output.\x7f",
        "out/details/x"}) {
    const absl::Status status =
        Refusal([&](auto& m) { m.mutable_output_files(2)->set_path(path); });
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << path;
  }
  EXPECT_FALSE(ValidateSuffix(std::string(".a\0b", 4)).ok());
  EXPECT_FALSE(ValidateSuffix("." + std::string(kSuffixBytesMax, 'x')).ok());
  for (const char* good : {"", ".ktx2", ".reflect.cbor", ".d/lod1.glb", ".d/a/b", ".dds"})
    EXPECT_TRUE(ValidateSuffix(good).ok()) << good;
}

TEST(ResultTest, WhatIsNoResultOfACookIsRefused) {
  const auto text = [](const auto& spoil) { return Refusal(spoil).ToString(); };
  EXPECT_THAT(text([](auto& m) { *m.add_output_files() = m.output_files(1); }),
              HasSubstr("there twice"));
  EXPECT_THAT(text([](auto& m) { *m.add_output_files() = m.output_files(0); }),
              HasSubstr("out/details is there twice"));
  EXPECT_THAT(text([](auto& m) { m.mutable_output_files(1)->clear_digest(); }),
              HasSubstr("out/output has no digest"));
  EXPECT_THAT(text([](auto& m) { m.mutable_output_files(1)->mutable_digest()->set_hash("zz"); }),
              HasSubstr("digest"));
  EXPECT_THAT(text([](auto& m) { m.mutable_output_files()->DeleteSubrange(0, 1); }),
              HasSubstr("no out/details"));
  EXPECT_THAT(text([](auto& m) { m.mutable_output_files(0)->set_contents("x"); }),
              HasSubstr("not what its digest says"));
  EXPECT_THAT(text([](auto& m) { m.add_output_directories()->set_path("out/output.d"); }),
              HasSubstr("no folders or links"));
  EXPECT_THAT(text([](auto& m) { m.add_output_symlinks()->set_path("out/output"); }),
              HasSubstr("no folders or links"));
  EXPECT_THAT(text([](auto& m) { m.set_exit_code(3); }), HasSubstr("exit code 3"));
  EXPECT_THAT(text([](auto& m) { m.set_exit_code(-9); }), HasSubstr("exit code -9"));
  EXPECT_THAT(text([](auto& m) { m.set_exit_code(1); }), HasSubstr("a verdict has no outputs"));
  EXPECT_THAT(text([](auto& m) {
                m.mutable_execution_metadata()->mutable_worker_start_timestamp()->set_nanos(-1);
              }),
              HasSubstr("time is out of range"));
  EXPECT_FALSE(DecodeResult("").ok());
}

TEST(ResultTest, DetailsThatAServerTookAwayAreTold) {
  const absl::Status status = Refusal([](auto& m) { m.mutable_output_files(0)->clear_contents(); });
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.ToString(), HasSubstr(Digest::Of(EncodeDetails(SampleDetails())).ToString()));
}

TEST(ResultTest, EveryTruncationIsRefusedOrAWholeResult) {
  const std::string bytes = EncodeResult(SampleResult());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto decoded = DecodeResult(std::string_view(bytes).substr(0, size));
    if (!decoded.ok()) continue;
    const std::string encoded = EncodeResult(*decoded);
    EXPECT_EQ(EncodeResult(*DecodeResult(encoded)), encoded);
  }
}

}  // namespace
}  // namespace galley::record
