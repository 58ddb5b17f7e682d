// A client of the prediction service for tests: SOCKET NAME SHARING OWNER, then commands by line,
// each answered by a line. OWNER is a user id, or "own" for a model that is made.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"

	predict "github.com/tidscope/tidscope/predictd/go"
)

func numbers(words []string) []int64 {
	found := []int64{}
	for _, word := range words {
		number, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			panic(err)
		}
		found = append(found, number)
	}
	return found
}

func said(err error) any {
	if err != nil {
		return err
	}
	return "done"
}

func answer(model *predict.Model, words []string) any {
	switch words[0] {
	case "predict":
		return model.Predict(numbers(words[1:])...)
	case "yes", "no":
		return said(model.Update(words[0] == "yes", numbers(words[1:])...))
	case "flush":
		return said(model.Flush())
	case "reset":
		return said(model.Reset(numbers(words[1:])...))
	case "entry":
		return predict.Entry(numbers(words[1:])[0])
	case "rounded":
		return predict.Rounded(numbers(words[1:])[0])
	case "named":
		return predict.Named(words[1])
	case "closed":
		return model.Closed()
	case "lost":
		return model.Lost()
	}
	return "what?"
}

func main() {
	sharing, _ := strconv.Atoi(os.Args[3])
	options := predict.Options{Socket: os.Args[1], Create: os.Args[4] == "own", Sharing: uint8(sharing)}
	if !options.Create {
		owner, _ := strconv.Atoi(os.Args[4])
		options.Owner = uint32(owner)
	}
	model, err := predict.Open(os.Args[2], options)
	fmt.Println(said(err))
	if err != nil {
		return
	}
	defer model.Close()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fmt.Println(answer(model, strings.Fields(lines.Text())))
	}
}
