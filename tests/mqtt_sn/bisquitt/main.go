// A device on bisquitt, somebody else's client of MQTT-SN in Go. It takes lines of input, and prints lines of a word
// and a rest.
//
//	device -address 127.0.0.1:1884 -id a [-will TOPIC=PAYLOAD] [-keep-alive 60s] [-kept] [-known TOPIC] [-ca FILE]
//
// connect, register TOPIC, publish QOS TOPIC PAYLOAD, subscribe QOS FILTER, unsubscribe FILTER, sleep SECONDS and
// disconnect are answered by `done`, when the other side has answered; a topic of two characters is a short one, one
// that is written as #ID a predefined one, and QoS 3 is what the specification calls -1. What comes is printed as
// `message QOS TOPIC PAYLOAD`. What goes wrong is printed as `failed WHY`, and ends it with exit code 1. At the end of
// its input it goes without a word to the broker.
package main

import (
	"bufio"
	"crypto/x509"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/energostack/bisquitt/client"
	"github.com/energostack/bisquitt/packets1"
	"github.com/energostack/bisquitt/topics"
	"github.com/energostack/bisquitt/util"
	"github.com/energostack/bisquitt/util/crypto"
)

const (
	// Longer than a test: bisquitt 0.9.1 panics where DISCONNECT is answered before its timer is noted down, and that runs out.
	retryDelay     = 2 * time.Minute
	retryCount     = 1
	connectTimeout = 30 * time.Second
)

func main() {
	address := flag.String("address", "", "HOST:PORT of the broker")
	config, err := configured()
	if err == nil {
		device := client.NewClient(util.NoOpLogger{}, config)
		if err = device.Dial(*address); err == nil {
			err = obey(device)
		}
	}
	if err != nil {
		fmt.Println("failed", err)
		os.Exit(1)
	}
}

// configured is what the command line says of the client.
func configured() (*client.ClientConfig, error) {
	id := flag.String("id", "", "client id")
	will := flag.String("will", "", "TOPIC=PAYLOAD, at QoS 1")
	keepAlive := flag.Duration("keep-alive", time.Minute, "keep alive")
	kept := flag.Bool("kept", false, "take up the session of the client id")
	known := flag.String("known", "", "the topic whose predefined id is 1")
	authority := flag.String("ca", "", "PEM file: DTLS, with a server of this authority")
	flag.Parse()

	config := &client.ClientConfig{
		ClientID:         *id,
		CleanSession:     !*kept,
		KeepAlive:        *keepAlive,
		ConnectTimeout:   connectTimeout,
		RetryDelay:       retryDelay,
		RetryCount:       retryCount,
		PredefinedTopics: topics.PredefinedTopics{},
		WillQOS:          1,
	}
	topic, payload, _ := strings.Cut(*will, "=")
	config.WillTopic, config.WillPayload = topic, []byte(payload)
	config.PredefinedTopics.Add("*", *known, 1)
	if *authority == "" {
		return config, nil
	}
	// A certificate of its own is what the client wants to have; the broker does not ask for it.
	config.UseDTLS, config.SelfSigned = true, true
	certificates, err := crypto.LoadX509Certificate(*authority)
	config.CACertificates = append([]*x509.Certificate{}, certificates...)
	return config, err
}

// obey carries the lines out, one by one.
func obey(device *client.Client) error {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.SplitN(lines.Text(), " ", 4)
		if err := order(device, words[0], words[1:]); err != nil {
			return err
		}
		fmt.Println("done")
	}
	return lines.Err()
}

func order(device *client.Client, word string, rest []string) error {
	switch {
	case word == "connect":
		return device.Connect()
	case word == "register" && len(rest) == 1:
		return device.Register(rest[0])
	case word == "publish" && len(rest) == 3:
		return publish(device, qosOf(rest[0]), rest[1], []byte(rest[2]))
	case word == "subscribe" && len(rest) == 2:
		return subscribe(device, qosOf(rest[0]), rest[1])
	case word == "unsubscribe" && len(rest) == 1:
		return device.Unsubscribe(rest[0])
	case word == "sleep" && len(rest) == 1:
		duration, err := time.ParseDuration(rest[0] + "s")
		if err != nil {
			return err
		}
		return device.Sleep(duration)
	case word == "disconnect":
		return device.Disconnect()
	}
	return fmt.Errorf("unknown: %q %q", word, rest)
}

func publish(device *client.Client, qos uint8, topic string, payload []byte) error {
	if id, isPredefined := predefined(topic); isPredefined {
		return device.PublishPredefined(id, payload, qos, false)
	}
	return device.Publish(topic, payload, qos, false)
}

func subscribe(device *client.Client, qos uint8, filter string) error {
	if id, isPredefined := predefined(filter); isPredefined {
		return device.SubscribePredefined(id, qos, show)
	}
	return device.Subscribe(filter, qos, show)
}

// show prints a message that came, as one write: it is called on threads of its own.
func show(_ *client.Client, topic string, message *packets1.Publish) {
	fmt.Printf("message %d %s %s\n", message.QOS, topic, message.Data)
}

func predefined(topic string) (id uint16, isPredefined bool) {
	digits, isPredefined := strings.CutPrefix(topic, "#")
	number, err := strconv.ParseUint(digits, 10, 16)
	return uint16(number), isPredefined && err == nil
}

// qosOf is one of 0 to 3; the client refuses what is not.
func qosOf(word string) uint8 {
	number, err := strconv.ParseUint(word, 10, 8)
	if err != nil {
		return 255
	}
	return uint8(number)
}
