// MetricsDoorTest: the door over loopback, with the built shared object.
#include "director/metrics/metrics_door.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/base/file.h"
#include "common/base/status_macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace galley::metrics {
namespace {

using ::testing::HasSubstr;

std::string Get(const std::string& address, const std::string& path) {
  const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&to), sizeof(to)) != 0) return "refused";
  const std::string ask = "GET " + path + " HTTP/1.0\r\n\r\n";
  if (::send(socket.get(), ask.data(), ask.size(), MSG_NOSIGNAL) < 0) return "refused";
  std::string answer;
  char bytes[4096];
  for (ssize_t got = 0; (got = ::recv(socket.get(), bytes, sizeof(bytes), 0)) > 0;)
    answer.append(bytes, static_cast<size_t>(got));
  return answer;
}

MetricsDoor::Options At(const std::string& address) {
  return {.address = address, .address_file = "", .library = "", .read = [] {
            return Figures{.version = "7.8.9"};
          }};
}

TEST(MetricsAddressTest, OnlyLoopbackIsTaken) {
  for (const char* address : {"", "127.0.0.1:9464", "127.0.0.2:0", "localhost:1", "[::1]:65535"})
    EXPECT_TRUE(CheckAddress(address).ok()) << address;
  for (const char* address : {"0.0.0.0:9464", "[::]:9464", "10.0.0.1:9464", "cook.studio:9464"})
    EXPECT_THAT(std::string(MessageOf(CheckAddress(address))), HasSubstr("loopback")) << address;
  for (const char* address :
       {"9464", ":9464", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536",
        "127.0.0.1:9464,0.0.0.0:9465", "unix:/tmp/x", "127.0.0.1:9464s", "127.0.0.1:+1"})
    EXPECT_EQ(CheckAddress(address).code(), absl::StatusCode::kInvalidArgument) << address;
}

TEST(MetricsDoorTest, AnswersWithWhatIsReadThen) {
  auto door = MetricsDoor::Open(At("127.0.0.1:0"));
  ASSERT_TRUE(door.ok()) << door.status();
  const std::string answer = Get((*door)->address(), "/metrics");
  EXPECT_THAT(answer, HasSubstr("200 OK"));
  EXPECT_THAT(answer, HasSubstr("galley_build_info{version=\"7.8.9\"} 1\n"));
  EXPECT_THAT(Get((*door)->address(), "/"), HasSubstr("404"));
  EXPECT_THAT(Get((*door)->address(), "/../etc/passwd"), testing::Not(HasSubstr("200 OK")));
}

TEST(MetricsDoorTest, AnAddressInUseIsSaidSo) {
  auto first = MetricsDoor::Open(At("127.0.0.1:0"));
  ASSERT_TRUE(first.ok()) << first.status();
  auto second = MetricsDoor::Open(At((*first)->address()));
  EXPECT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(MessageOf(second.status())), HasSubstr("in use"));
}

TEST(MetricsDoorTest, ItsAddressIsInAFileWhileItIsOpen) {
  const std::string file = testing::TempDir() + "/metrics-address";
  MetricsDoor::Options options = At("localhost:0");
  options.address_file = file;
  {
    auto door = MetricsDoor::Open(std::move(options));
    ASSERT_TRUE(door.ok()) << door.status();
    EXPECT_EQ(ReadFile(file).value_or(""), (*door)->address() + "\n");
  }
  EXPECT_FALSE(FileExists(file));
}

TEST(MetricsDoorTest, ALibraryThatIsNotThereIsSaidSo) {
  MetricsDoor::Options options = At("127.0.0.1:0");
  options.library = "/nowhere/galley-metrics.so";
  const auto door = MetricsDoor::Open(std::move(options));
  EXPECT_EQ(door.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(MessageOf(door.status())), HasSubstr("libprometheus-cpp-pull1.0"));
}

}  // namespace
}  // namespace galley::metrics
