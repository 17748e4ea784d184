#include "common/store/reapi/server/unix_listener.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "common/store/testing/sample.h"
#include "gmock/gmock.h"

namespace galley::store {
namespace {

using testing::HasSubstr;

FileDescriptor ListenAt(const std::string& path) {
  FileDescriptor server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path, path.data(), path.size());
  EXPECT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  EXPECT_EQ(::listen(server.get(), 8), 0);
  return server;
}

class UnixListenerTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  const std::string path_ = folder_.In("s");
};

TEST_F(UnixListenerTest, AStaleSocketIsReplacedAndALiveOneIsNot) {
  ListenAt(path_).Reset();  // its process has ended
  auto prepared = UnixListener::Prepare(path_);
  ASSERT_TRUE(prepared.ok()) << prepared.status();
  const FileDescriptor server = ListenAt((*prepared)->bind_path());
  ASSERT_TRUE((*prepared)->Publish().ok());
  EXPECT_FALSE(FileExists((*prepared)->bind_path()));
  EXPECT_TRUE(absl::IsUnavailable(UnixListener::Prepare(path_).status()));
  prepared->reset();
  EXPECT_FALSE(FileExists(path_));
}

TEST_F(UnixListenerTest, WhoCameFirstKeepsThePath) {
  auto first = *UnixListener::Prepare(path_), second = *UnixListener::Prepare(path_);
  const FileDescriptor server = ListenAt(first->bind_path()), late = ListenAt(second->bind_path());
  ASSERT_TRUE(first->Publish().ok());
  EXPECT_TRUE(absl::IsUnavailable(second->Publish()));
  second.reset();
  EXPECT_TRUE(FileExists(path_));
}

TEST_F(UnixListenerTest, SomebodyElsesSocketIsLeftAtTheEnd) {
  auto first = *UnixListener::Prepare(path_);
  const FileDescriptor server = ListenAt(first->bind_path());
  ASSERT_TRUE(first->Publish().ok());
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  const FileDescriptor other = ListenAt(path_);
  first.reset();
  EXPECT_TRUE(FileExists(path_));
}

TEST_F(UnixListenerTest, WhatIsNoSocketIsNotRemoved) {
  ASSERT_TRUE(WriteFileAtomic(path_, "precious").ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(UnixListener::Prepare(path_).status()));
  EXPECT_TRUE(FileExists(path_));
  EXPECT_THAT(MessageOf(UnixListener::Prepare(folder_.In("absent/s")).status()),
              HasSubstr("No such file"));
  EXPECT_THAT(MessageOf(UnixListener::Prepare(folder_.In(std::string(120, 'x')) + "/s").status()),
              HasSubstr("too long"));
}

}  // namespace
}  // namespace galley::store
