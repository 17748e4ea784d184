#include "worker/executor/frame.h"

#include <sys/socket.h>

#include "common/base/file.h"
#include "gtest/gtest.h"

namespace galley::worker {
namespace {

TEST(FrameTest, FramesArriveWholeHoweverTheyAreCut) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const FileDescriptor a(ends[0]);
  const FileDescriptor b(ends[1]);
  const FrameView sent[] = {{FrameKind::kBlob, "bytes"}, {FrameKind::kMessage, ""}};
  ASSERT_TRUE(SendFrames(a.get(), sent).ok());
  FrameReader reader;
  std::vector<Frame> frames;
  char piece = 0;
  while (::recv(b.get(), &piece, 1, MSG_DONTWAIT) == 1) {
    reader.Add({&piece, 1});
    auto frame = reader.Next();
    ASSERT_TRUE(frame.ok());
    if (frame->has_value()) frames.push_back(**frame);
  }
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].bytes, "bytes");
  EXPECT_EQ(frames[0].kind, FrameKind::kBlob);
  EXPECT_EQ(frames[1].bytes, "");
  EXPECT_TRUE(reader.IsEmpty());
}

TEST(FrameTest, AnUnknownKindIsRefused) {
  FrameReader reader;
  reader.Add(std::string("\x07\0\0\0\0\0\0\0\0", 9));
  EXPECT_EQ(reader.Next().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(FrameTest, ALengthAboveTheLimitIsRefusedBeforeItsBytesCome) {
  FrameReader reader;
  reader.Add(std::string("\x01\xff\xff\xff\xff\0\0\0\0", 9));
  EXPECT_EQ(reader.Next().status().code(), absl::StatusCode::kInvalidArgument);
  FrameReader pieces;
  pieces.Add(std::string("\x03\x01\0\x10\0\0\0\0\0", 9));  // a byte more than a mebibyte
  EXPECT_EQ(pieces.Next().status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(FrameTest, ASocketClosedWithinAFrameIsAnError) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  FileDescriptor a(ends[0]);
  const FileDescriptor b(ends[1]);
  ASSERT_EQ(::send(a.get(), "\x01\x05", 2, 0), 2);
  a.Reset();
  FrameReader reader;
  EXPECT_EQ(ReceiveFrame(b.get(), reader).status().code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace galley::worker
